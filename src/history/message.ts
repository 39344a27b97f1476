import type { Json } from '../base/json.ts';
import type { TrackedField, TrackedValues } from '../base/tracked-values.ts';
import { noRegion } from '../contract/track.ts';
import { shownPlace } from '../markets/lookup.ts';
import { createEmail, cutName, type Email } from '../notify/email.ts';
import type { Notice } from '../notify/message.ts';
import type { ItemKey, Rule, TrackingRun } from '../store/history.ts';

/** An item of a run that rules fired for. */
export interface FiredItem {
  run: TrackingRun;
  item: ItemKey;
  rules: readonly Rule[];
  before: TrackedValues | null;
  after: TrackedValues;
  changed: readonly TrackedField[];
  /** Time of the reading. */
  at: number;
}

/** Creates the message about an item: the rules, and the changed values before and after. */
export function itemNotice({ run, item, rules, before, after, changed, at }: FiredItem): Notice {
  const { market, key } = item;
  const { region, store } = shownPlace(item);
  return {
    type: 'item.changed',
    timestamp: new Date(at).toISOString(),
    data: {
      job_id: run.jobId,
      series: run.series,
      market,
      region: region === noRegion ? '' : region,
      store: store === '' ? null : store,
      key,
      title: after.title,
      price: after.price,
      currency: after.currency,
      stock: after.stock,
      available: after.available,
      changes: changed.map((field) => ({
        field,
        before: (before?.[field] ?? null) as Json,
        after: after[field] as Json,
      })),
      rules: rules.map(({ id, name, condition, threshold }) => ({
        rule_id: id,
        name,
        condition,
        threshold,
      })),
    },
  };
}

function priceOf({ price, currency }: TrackedValues): string {
  if (price === null) return 'unknown';
  return currency === null ? String(price) : `${price} ${currency}`;
}

/** Creates the email about an item. */
export function itemEmail({ item, rules, before, after }: FiredItem): Email {
  const { market, region, key } = item;
  const title = cutName(after.title ?? key);
  const names = rules
    .map(({ name, condition }) => cutName(name === '' ? condition : name))
    .join(', ');
  const hasNewPrice = before !== null && priceOf(before) !== priceOf(after);
  const marketAndRegion = region === '' ? market : `${market} (${region})`;
  const priceBefore = hasNewPrice ? `, before ${priceOf(before)}` : '';
  const stockBefore = before === null ? '' : `, before ${stockOf(before)}`;
  const lines = [
    `${title} matches your rules: ${names}.`,
    '',
    `Item:   ${key} on ${marketAndRegion}`,
    `Price:  ${priceOf(after)}${priceBefore}`,
    `Stock:  ${stockOf(after)}${stockBefore}`,
  ];
  return createEmail(`${names}: ${title}`, lines);
}

function stockOf({ stock, available }: TrackedValues): string {
  if (stock !== null) return String(stock);
  if (available === null) return 'unknown';
  return available ? 'available' : 'not available';
}
