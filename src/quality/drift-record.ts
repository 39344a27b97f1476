import type { DriftRecord } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import type { FieldHistory } from './drift-rule.ts';

/** Histories of a market's page, by field. */
export type Histories = Readonly<Record<string, FieldHistory>>;

/** Maximum attempts to write. Concurrent writers are few and fast. */
const tries = 10;

/** Parses the histories of a stored record. */
export function parseHistories(record: DriftRecord): Histories {
  return JSON.parse(record.state) as Histories;
}

/**
 * Changes the histories of a market's page atomically across processes. `change` is called again if
 * another process wrote in between. Returns the histories before and after, or null if every
 * attempt conflicted and nothing was changed.
 */
export async function changeHistories(
  store: Pick<Store, 'drift'>,
  market: string,
  page: string,
  change: (before: Histories) => Histories,
): Promise<{ before: Histories; after: Histories } | null> {
  for (let attempt = 1; attempt <= tries; attempt++) {
    const record = await store.drift.get(market, page);
    const before = record === null ? {} : parseHistories(record);
    const after = change(before);
    const revision = (record?.revision ?? 0) + 1;
    if (
      await store.drift.put({
        market,
        page,
        revision,
        state: JSON.stringify(after),
      })
    )
      return { before, after };
  }
  return null;
}
