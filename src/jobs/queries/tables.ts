import { type Column, topColumn } from '../../formats/columns.ts';
import type { ExactObject } from '../../formats/json-text.ts';
import type { Job } from '../../store/documents.ts';
import { type ItemContext, itemValues } from './item-values.ts';
import { type Entry, rowColumnsOf, rowsIn } from './rows.ts';

/** Columns of a table of records: those of their marketplace and kind (''), or the standard ones. */
export type ColumnChoice = '' | 'standard';

/** Values of the parameter `columns`. */
export const columnChoices = ['standard'] as const;

/** A table of records. */
export interface RecordTable {
  columns: readonly Column[];
  rows: AsyncIterable<ExactObject>;
}

/** Columns that the records of every kind and marketplace have in common. */
export const standardColumns: readonly Column[] = [
  topColumn('id', 'string'),
  topColumn('url', 'string'),
  topColumn('title', 'string'),
  topColumn('brand', 'string'),
  topColumn('price', 'number'),
  topColumn('currency', 'string'),
  topColumn('list_price', 'number'),
  topColumn('availability', 'string'),
  topColumn('rating', 'number'),
  topColumn('reviews', 'integer'),
  topColumn('seller', 'string'),
  topColumn('image', 'string'),
  topColumn('collected_at', 'timestamp'),
];

/** Returns the table of a job's entries with the chosen columns. */
export function tableOf(
  context: ItemContext,
  job: Job,
  entries: AsyncIterable<Entry>,
  choice: ColumnChoice,
): RecordTable {
  if (choice === 'standard') return { columns: standardColumns, rows: standardRows(context, job, entries) };
  return { columns: rowColumnsOf(context.jobTypes.of(job)), rows: rowsIn(entries) };
}

async function* standardRows(
  context: ItemContext,
  job: Job,
  entries: AsyncIterable<Entry>,
): AsyncGenerator<ExactObject> {
  for await (const { row, unit } of entries) {
    if (row === null) continue;
    const { key, title, price, currency, available, rating, details, url, image } = itemValues(
      context,
      job,
      row,
      'full',
    );
    const readAt = unit.outcome?.status === 'SUCCESS' ? unit.outcome.readAt : undefined;
    yield {
      id: key ?? null,
      url,
      title: title ?? null,
      brand: details?.brand ?? null,
      price: price ?? null,
      currency: currency ?? null,
      list_price: details?.listPrice ?? null,
      availability: available == null ? null : available ? 'in_stock' : 'out_of_stock',
      rating: rating ?? null,
      reviews: details?.reviews ?? null,
      seller: details?.seller ?? null,
      image,
      collected_at: readAt === undefined ? null : new Date(readAt).toISOString(),
    };
  }
}
