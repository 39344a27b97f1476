import type { DriftRecord } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import { changeHistories, parseHistories } from './drift-record.ts';
import { accepted, computeShares, type Example, noHistory, type Shares } from './drift-rule.ts';

/** Statistics of one listed field of a market's page, for operators. */
export interface FieldDrift extends Shares {
  market: string;
  page: string;
  field: string;
  /** Start of the alarm in milliseconds since the epoch. Null if there is no alarm. */
  since: number | null;
  /** Last unit whose page lacked the field. */
  example: Example | null;
}

/**
 * Returns the statistics of fields by market and page. Includes fields without an alarm only if
 * `all` is true.
 */
export async function listFieldDrift(
  store: Pick<Store, 'drift'>,
  all: boolean,
): Promise<FieldDrift[]> {
  const records = await store.drift.find({});
  return records.flatMap(fieldsOf).filter(({ since }) => all || since !== null);
}

/** Returns the statistics of the fields of a market's page. */
export async function fieldDriftOf(
  store: Pick<Store, 'drift'>,
  market: string,
  page: string,
): Promise<FieldDrift[]> {
  const record = await store.drift.get(market, page);
  return record === null ? [] : fieldsOf(record);
}

function fieldsOf(record: DriftRecord): FieldDrift[] {
  const { market, page } = record;
  return Object.entries(parseHistories(record)).map(([field, history]) => {
    const { alarm, example } = history;
    return {
      market,
      page,
      field,
      ...computeShares(history),
      since: alarm?.since ?? null,
      example,
    };
  });
}

/**
 * Accepts the newest pages as the baseline and so ends the alarm of a field or, with '', of every
 * field of the page. Returns the fields whose alarm ended.
 */
export async function acceptDrift(
  store: Pick<Store, 'drift'>,
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
  return Object.keys(before).filter(
    (name) => (before[name] ?? noHistory).alarm && !after[name]?.alarm,
  );
}
