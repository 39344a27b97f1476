import type { DriftRecord } from '../store/documents.ts';
import type { DriftStore } from '../store/store.ts';
import type { FieldHistory } from './rule.ts';

/** Histories of one sort of a market's pages by field. */
export type Histories = Readonly<Record<string, FieldHistory>>;

/** Writers at once are few and quick: so many tries are more than enough. */
const tries = 10;

/** The histories of a record. */
export function historiesOf(record: DriftRecord): Histories {
  return JSON.parse(record.state) as Histories;
}

/**
 * Changes the histories of a market's page in one step over all processes: `change` is called again on what
 * another process wrote meanwhile. Gives what was there before and is there now; null when others were faster
 * every time, and nothing is changed.
 */
export async function changeHistories(
  store: DriftStore,
  market: string,
  page: string,
  change: (before: Histories) => Histories,
): Promise<{ before: Histories; after: Histories } | null> {
  for (let attempt = 1; attempt <= tries; attempt++) {
    const record = await store.getDrift(market, page);
    const before = record === null ? {} : historiesOf(record);
    const after = change(before);
    const revision = (record?.revision ?? 0) + 1;
    if (await store.putDrift({ market, page, revision, state: JSON.stringify(after) }))
      return { before, after };
  }
  return null;
}
