import { setImmediate } from 'node:timers/promises';
import { Fault } from '../../contract/fault.ts';
import { type Cell, cellReader } from '../../formats/cells.ts';
import type { Column, ColumnType } from '../../formats/columns.ts';
import {
  parseSelection,
  type Selection,
  type SelectionText,
  type SortKey,
} from '../../formats/select.ts';
import type { ItemReading } from '../../markets/tracked.ts';
import { type Page, placeToken, readPlace } from '../../store/cursor.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import type { ResolvedJobType } from '../job-types.ts';
import { changedEntries, type OnlyFilter } from './item-changes.ts';
import { readingOf } from './item-values.ts';
import {
  type Entry,
  hasRecord,
  type RecordEntry,
  type RowScope,
  readEntries,
  requireResults,
  rowColumnsOf,
  rowOf,
} from './rows.ts';
import { createScans } from './scans.ts';

/** Rows of a job to export. With `only`, the job must be compared: see requireCompared(). */
export interface RowQuery extends SelectionText {
  only?: OnlyFilter | undefined;
}

/** Entries of a job to show. */
export interface EntryQuery extends RowQuery {
  status: '' | 'SUCCESS' | 'FAILED';
  limit: number;
  /** Token of the previous page. Null for the first. */
  after: string | null;
  /** Only the unit with this index, in the order of its entries. */
  unit?: number | undefined;
  /** Only the entry with this position. */
  position?: number | undefined;
}

/** Queries of a job's records. */
export interface Explorer {
  /** Returns a page. `total` is null if it is not known. Throws `invalid`, `results_deleted`. */
  list(job: Job, query: EntryQuery): Promise<Page<Entry> & { total: number | null }>;
  /** Yields the records of a selection. Throws `invalid`, `results_deleted`. */
  records(job: Job, query: RowQuery): AsyncIterable<Entry>;
}

/** Common names of an item's values, with the value of a reading, and its type. */
const itemTypes = {
  id: ['key', 'string'],
  title: ['title', 'string'],
  price: ['price', 'number'],
  currency: ['currency', 'string'],
  stock: ['stock', 'integer'],
  sold: ['sold', 'integer'],
  rating: ['rating', 'number'],
} as const satisfies Record<string, [keyof ItemReading, ColumnType]>;

/** Columns of the values under common names: `item.price`. */
const itemColumns = Object.entries(itemTypes).map(([name, [value, type]]) => ({
  name: `item.${name}`,
  steps: ['item', name],
  type,
  value,
})) satisfies Column[];

/** Rows of an entry list between which other work runs. */
const rowsPerTurn = 100;
/** Rows per read in the order of a sort. */
const rowsPerRead = 1_000;
/** Most rows of a sorted export: each thousand of them reads the files of its units again. */
const maxSortedRows = 100_000;

/** Limits of the records that a query may find, which are kept in memory while it runs. */
const foundLimits = { sorted: 500_000, unsorted: 5_000_000 };

/** Creates the queries. */
export function createExplorer(context: JobContext, limits = foundLimits): Explorer {
  const { jobTypes } = context;
  const scans = createScans<Int32Array>((positions) => positions.byteLength);
  /** Returns units and positions of the selected entries, in pairs and in order. */
  const scan = async (job: Job, selection: Selection, status: string, only: OnlyFilter) => {
    const cellsOf = entryCells(jobTypes.of(job), selection.used);
    const matches = createMatches(selection, limits);
    let turn = 0;
    for await (const entry of entriesOf(context, job, scopeOf(status), only)) {
      if (++turn % rowsPerTurn === 0) await setImmediate();
      if (hasRecord(entry)) {
        const cells = cellsOf(entry);
        if (selection.matches(cells)) matches.add(entry, cells);
      } else if (selection.matchesTexts([entry.unit.unit.key, messageOf(entry.unit.outcome)])) {
        matches.add(entry, null);
      }
    }
    return matches.positions();
  };
  /** Yields the selected records in the order submitted, in one pass. */
  const recordsInOrder = async function* (job: Job, selection: Selection, only: OnlyFilter) {
    const cellsOf = entryCells(jobTypes.of(job), selection.used);
    let turn = 0;
    for await (const entry of entriesOf(context, job, {}, only)) {
      if (++turn % rowsPerTurn === 0) await setImmediate();
      if (hasRecord(entry) && selection.matches(cellsOf(entry))) yield entry;
    }
  };
  const select = (job: Job, text: RowQuery, status: string) => {
    const selection = parseSelection(text, [...rowColumnsOf(jobTypes.of(job)), ...itemColumns]);
    const { filter, search, sort, only = '' } = text;
    const name = JSON.stringify([filter, search, sort, status, only]);
    return {
      selection,
      positions: () => scans.of(job, name, () => scan(job, selection, status, only)),
    };
  };

  return {
    async list(job, { status, limit, after, unit, position, ...text }) {
      requireResults(job);
      if (unit !== undefined)
        return listUnit(context, job, {
          unit,
          position,
          limit,
          after,
        });
      const { selection, positions } = select(job, text, status);
      if (selection.isAll && !text.only) {
        const page = await listInOrder(context, job, status, limit, after);
        return { ...page, total: null };
      }
      const [from] = readPlace(after);
      const all = await positions();
      const page = all.subarray(2 * from, 2 * (from + limit));
      const total = all.length / 2;
      const next = from + limit < total ? placeToken(from + limit) : null;
      return { items: await entriesAt(context, job, page), next, total };
    },
    records(job, text) {
      requireResults(job);
      const { selection, positions } = select(job, text, 'SUCCESS');
      return selection.keyOf === null
        ? recordsInOrder(job, selection, text.only ?? '')
        : recordsAt(context, job, positions);
    },
  };
}

/** Collects the unit indexes and positions of the entries that match, in pairs. */
function createMatches({ keyOf, compare }: Selection, limits: typeof foundLimits) {
  // Pairs of numbers take a tenth of the memory of objects, which only a sort needs.
  const pairs: number[] = [];
  const sortable: { key: SortKey; unit: number; position: number }[] = [];
  return {
    /** Adds an entry. `cells` is null for a failed unit. Throws `invalid` above the limits. */
    add({ unit: { index }, position }: Entry, cells: Cell[] | null): void {
      const { sorted, unsorted } = limits;
      if (sortable.length >= sorted)
        throw tooMany('sort', `A sort takes at most ${sorted} records: select fewer by a filter`);
      if (pairs.length >= 2 * unsorted)
        throw tooMany('filter', `A list has at most ${unsorted} records that match: select fewer`);
      if (keyOf === null) {
        pairs.push(index, position);
        return;
      }
      const key = cells === null ? null : keyOf(cells);
      sortable.push({ key, unit: index, position });
    },
    /** Returns the pairs in the order of the sort, or as they were added. */
    positions(): Int32Array {
      sortable.sort((one, other) => compare(one.key, other.key));
      for (const { unit, position } of sortable) pairs.push(unit, position);
      return Int32Array.from(pairs);
    },
  };
}

function entriesOf(context: JobContext, job: Job, scope: RowScope, only: OnlyFilter) {
  const entries = readEntries(context, job, scope);
  return only === 'changed' ? changedEntries(context, job, entries) : entries;
}

/** Creates the function that reads the cells of entries and of their values under common names. */
function entryCells(
  jobType: ResolvedJobType,
  columns: readonly Column[],
): (entry: RecordEntry) => Cell[] {
  const cellsOf = cellReader(columns);
  const items = itemColumns
    .map((column) => ({ value: column.value, at: columns.indexOf(column) }))
    .filter(({ at }) => at >= 0);
  return (entry) => {
    const cells = cellsOf(rowOf(entry));
    if (items.length === 0) return cells;
    const values = readingOf(jobType, entry.record);
    for (const { at, value } of items) cells[at] = values[value] ?? null;
    return cells;
  };
}

const scopeOf = (status: string) => ({
  failed: status !== 'SUCCESS',
  records: status !== 'FAILED',
});

function messageOf(outcome: Entry['unit']['outcome']) {
  if (outcome?.status === 'FAILED') return outcome.message;
  return '';
}

/** Returns a page of entries in the order submitted, without reading those before it. */
async function listInOrder(
  context: JobContext,
  job: Job,
  status: string,
  limit: number,
  after: string | null,
): Promise<Page<Entry>> {
  const [from, position] = readPlace(after);
  const items: Entry[] = [];
  for await (const entry of readEntries(context, job, { from, ...scopeOf(status) })) {
    const { index } = entry.unit;
    const isBefore = index < from || (index === from && entry.position < position);
    if (isBefore) continue;
    if (items.length === limit) return { items, next: placeToken(index, entry.position) };
    items.push(entry);
  }
  return { items, next: null };
}

/** Returns a page of the entries of one unit. */
async function listUnit(
  context: JobContext,
  job: Job,
  {
    unit,
    position,
    limit,
    after,
  }: Pick<EntryQuery, 'position' | 'limit' | 'after'> & { unit: number },
): Promise<Page<Entry> & { total: null }> {
  const [, from] = readPlace(after);
  const items: Entry[] = [];
  for await (const entry of readEntries(context, job, { unit, failed: true })) {
    if (entry.position < from) continue;
    if (position !== undefined && entry.position !== position) continue;
    if (items.length === limit)
      return { items, next: placeToken(unit, entry.position), total: null };
    items.push(entry);
    if (position !== undefined) break;
  }
  return { items, next: null, total: null };
}

/** Reads the entries at pairs of unit index and position, in their order. */
async function entriesAt(context: JobContext, job: Job, pairs: Int32Array): Promise<Entry[]> {
  const units = new Set(pairs.filter((_, index) => index % 2 === 0));
  const entries = new Map<string, Entry | null>();
  for (let index = 0; index < pairs.length; index += 2)
    entries.set(`${pairs[index]}.${pairs[index + 1]}`, null);
  for await (const entry of readEntries(context, job, { units, failed: true })) {
    const key = `${entry.unit.index}.${entry.position}`;
    if (entries.has(key)) entries.set(key, entry);
  }
  return [...entries.values()].filter((entry) => entry !== null);
}

const tooMany = (option: string, message: string) =>
  Fault.invalid(['query', option], message, 'value_error');

async function* recordsAt(
  context: JobContext,
  job: Job,
  positions: () => Promise<Int32Array>,
): AsyncGenerator<Entry> {
  const all = await positions();
  const total = all.length / 2;
  if (total > maxSortedRows) {
    const problem = `A sorted export has at most ${maxSortedRows} records, and this one ${total}`;
    throw tooMany('sort', `${problem}: export without a sort`);
  }
  for (let from = 0; from < all.length; from += 2 * rowsPerRead) {
    const entries = await entriesAt(context, job, all.subarray(from, from + 2 * rowsPerRead));
    for (const entry of entries) if (hasRecord(entry)) yield entry;
  }
}
