import type { TrackedValues } from '../base/tracked-values.ts';
import { createColumns } from '../formats/columns.ts';
import { createFormat, type FormatName } from '../formats/format.ts';
import type { ExactObject } from '../formats/json-text.ts';
import type { JobContext } from '../jobs/context.ts';
import { shownPlace } from '../markets/lookup.ts';
import { prefixFields, type RecordFields } from '../quality/record-schema.ts';
import { allOf } from '../store/cursor.ts';
import { type ItemChange, listChanges } from '../store/history.ts';

/** Changes per query. */
const pageSize = 500;

/** Tracked values of an item. */
const valueFields: RecordFields = {
  title: 'string?',
  price: 'number?',
  currency: 'string?',
  stock: 'integer?',
  available: 'boolean?',
  sold: 'integer?',
  rating: 'number?',
  variants: 'array?',
};

/** Fields of a row. */
const rowFields: RecordFields = {
  type: 'string',
  market: 'string',
  region: 'string',
  store: 'string?',
  key: 'string',
  title: 'string?',
  at: 'string',
  ...prefixFields('before', valueFields),
  ...prefixFields('after', valueFields),
};

/** Writes the changes of a job as a file, a page at a time. */
export function changeFile(
  context: JobContext,
  jobId: string,
  format: FormatName,
): AsyncIterable<Uint8Array> {
  return createFormat(format, createColumns(rowFields))(rowsOf(context, jobId));
}

async function* rowsOf({ store }: JobContext, jobId: string): AsyncGenerator<ExactObject> {
  for await (const change of allOf((page) => listChanges(store, jobId, null, page), pageSize))
    yield rowOf(change);
}

function rowOf(change: ItemChange): ExactObject {
  const { type, market, key, title, at, before, after } = change;
  const { region, store } = shownPlace(change);
  return {
    type,
    market,
    region,
    store: store === '' ? null : store,
    key,
    title,
    at: new Date(at).toISOString(),
    before: before as ExactObject & Partial<TrackedValues>,
    after: after as ExactObject & Partial<TrackedValues>,
  };
}
