import type { DriftStore } from '../store/store.ts';
import { accepted, type Example, noHistory, type Shares, sharesOf } from './rule.ts';
import { changeHistories, historiesOf } from './state.ts';

/** How often a field is missing from one sort of a market's pages, as operators see it. */
export interface FieldDrift extends Shares {
  market: string;
  page: string;
  field: string;
  /** When the alarm began, in milliseconds since the epoch; null without one. */
  since: number | null;
  /** The last unit whose page lacked the field. */
  example: Example | null;
}

/** Fields by market and page: those with an alarm, or `all` that were looked at. */
export async function listFieldDrift(store: DriftStore, all: boolean): Promise<FieldDrift[]> {
  const records = await store.listDrift();
  return records.flatMap((record) =>
    Object.entries(historiesOf(record)).flatMap(([field, history]) => {
      if (history.alarm === null && !all) return [];
      const { market, page } = record;
      const { alarm, example } = history;
      return [{ market, page, field, ...sharesOf(history), since: alarm?.since ?? null, example }];
    }),
  );
}

/**
 * Takes what the newest pages are like as usual and so ends the alarm of a field, or, with '', of every field
 * of the page. Gives the fields whose alarm has ended.
 */
export async function acceptDrift(
  store: DriftStore,
  market: string,
  page: string,
  field: string,
): Promise<string[]> {
  const change = await changeHistories(store, market, page, (before) =>
    Object.fromEntries(
      Object.entries(before).map(([name, history]) => [
        name,
        field === '' || field === name ? accepted(history) : history,
      ]),
    ),
  );
  const { before, after } = change ?? { before: {}, after: {} };
  return Object.keys(before).filter((name) => (before[name] ?? noHistory).alarm && !after[name]?.alarm);
}
