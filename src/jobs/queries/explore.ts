import { setImmediate } from 'node:timers/promises';
import { createBoundedMap } from '../../base/bounded-map.ts';
import { createFairQueue } from '../../base/fair-queue.ts';
import type { TrackedValues } from '../../base/tracked-values.ts';
import { Fault } from '../../contract/fault.ts';
import { type Cell, cellReader } from '../../formats/cells.ts';
import type { Column, ColumnType } from '../../formats/columns.ts';
import { parseSelection, type Selection, type SelectionText, type SortKey } from '../../formats/select.ts';
import { type Page, placeToken, readPlace } from '../../store/cursor.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import type { ResolvedJobType } from '../job-types.ts';
import { changedEntries, type OnlyFilter } from './changed.ts';
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

const itemTypes = {
  title: 'string',
  price: 'number',
  currency: 'string',
  stock: 'integer',
  sold: 'integer',
  rating: 'number',
} as const satisfies Partial<Record<keyof TrackedValues, ColumnType>>;

/** Columns of the values under common names: `item.price`. */
const itemColumns = (Object.keys(itemTypes) as (keyof typeof itemTypes)[]).map((value) => ({
  ...{ name: `item.${value}`, steps: ['item', value], type: itemTypes[value] },
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
  const placesOf = createScans<Int32Array>((places) => places.byteLength);
  /** Returns units and positions of the selected entries, in pairs and in order. */
  const scan = async (job: Job, selection: Selection, status: string, only: OnlyFilter) => {
    const cellsOf = entryCells(jobTypes.of(job), selection.used);
    // Pairs of numbers take a tenth of the memory of objects, which only a sort needs.
    const places: number[] = [];
    const found: { key: SortKey; unit: number; position: number }[] = [];
    const { keyOf } = selection;
    const add = (unit: number, position: number, cells: Cell[] | null) => {
      if (found.length >= limits.sorted)
        throw tooMany('sort', `A sort takes at most ${limits.sorted} records: select fewer by a filter`);
      if (places.length >= 2 * limits.unsorted)
        throw tooMany('filter', `A list has at most ${limits.unsorted} records that match: select fewer`);
      if (keyOf) found.push({ key: cells === null ? null : keyOf(cells), unit, position });
      else places.push(unit, position);
    };
    let turn = 0;
    for await (const entry of entriesOf(context, job, scopeOf(status), only)) {
      if (++turn % rowsPerTurn === 0) await setImmediate();
      const { unit, position } = entry;
      if (!hasRecord(entry)) {
        if (selection.matchesTexts([unit.unit.key, messageOf(unit.outcome)])) add(unit.index, position, null);
        continue;
      }
      const cells = cellsOf(entry);
      if (selection.matches(cells)) add(unit.index, position, cells);
    }
    found.sort((one, other) => selection.compare(one.key, other.key));
    for (const { unit, position } of found) places.push(unit, position);
    return Int32Array.from(places);
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
  const selectedPlaces = (job: Job, text: RowQuery, status: string) => {
    const selection = parseSelection(text, [...rowColumnsOf(jobTypes.of(job)), ...itemColumns]);
    const { filter, search, sort, only = '' } = text;
    const name = JSON.stringify([filter, search, sort, status, only]);
    return {
      selection,
      places: () => placesOf.of(job, name, () => scan(job, selection, status, only)),
    };
  };

  return {
    async list(job, { status, limit, after, unit, position, ...text }) {
      requireResults(job);
      if (unit !== undefined) return listUnit(context, job, { unit, position, limit, after });
      const { selection, places } = selectedPlaces(job, text, status);
      if (selection.isAll && !text.only)
        return { ...(await listInOrder(context, job, status, limit, after)), total: null };
      const [from] = readPlace(after);
      const all = await places();
      const page = all.subarray(2 * from, 2 * (from + limit));
      const total = all.length / 2;
      const next = from + limit < total ? placeToken(from + limit) : null;
      return { items: await entriesAt(context, job, page), next, total };
    },
    records(job, text) {
      requireResults(job);
      const { selection, places } = selectedPlaces(job, text, 'SUCCESS');
      return selection.keyOf === undefined
        ? recordsInOrder(job, selection, text.only ?? '')
        : recordsAt(context, job, places);
    },
  };
}

function entriesOf(context: JobContext, job: Job, scope: RowScope, only: OnlyFilter) {
  const entries = readEntries(context, job, scope);
  return only === 'changed' ? changedEntries(context, job, entries) : entries;
}

/** Creates the function that reads the cells of entries and of their values under common names. */
function entryCells(jobType: ResolvedJobType, columns: readonly Column[]): (entry: RecordEntry) => Cell[] {
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

const scopeOf = (status: string) => ({ failed: status !== 'SUCCESS', records: status !== 'FAILED' });

const messageOf = (outcome: Entry['unit']['outcome']) =>
  outcome?.status === 'FAILED' ? outcome.message : '';

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
    const { unit } = entry;
    if (unit.index < from || (unit.index === from && entry.position < position)) continue;
    if (items.length === limit) return { items, next: placeToken(unit.index, entry.position) };
    items.push(entry);
  }
  return { items, next: null };
}

/** Returns a page of the entries of one unit. */
async function listUnit(
  context: JobContext,
  job: Job,
  { unit, position, limit, after }: Pick<EntryQuery, 'position' | 'limit' | 'after'> & { unit: number },
): Promise<Page<Entry> & { total: null }> {
  const [, from] = readPlace(after);
  const items: Entry[] = [];
  for await (const entry of readEntries(context, job, { unit, failed: true })) {
    if (entry.position < from || entry.position !== (position ?? entry.position)) continue;
    if (items.length === limit) return { items, next: placeToken(unit, entry.position), total: null };
    items.push(entry);
    if (position !== undefined) break;
  }
  return { items, next: null, total: null };
}

/** Reads the entries at places, in their order. */
async function entriesAt(context: JobContext, job: Job, places: Int32Array): Promise<Entry[]> {
  const units = new Set(places.filter((_, at) => at % 2 === 0));
  const wanted = new Set<string>();
  for (let at = 0; at < places.length; at += 2) wanted.add(`${places[at]}.${places[at + 1]}`);
  const found = new Map<string, Entry>();
  for await (const entry of readEntries(context, job, { units, failed: true })) {
    const place = `${entry.unit.index}.${entry.position}`;
    if (wanted.has(place)) found.set(place, entry);
  }
  return [...wanted].flatMap((place) => found.get(place) ?? []);
}

const tooMany = (option: string, message: string) => Fault.invalid(['query', option], message, 'value_error');

async function* recordsAt(
  context: JobContext,
  job: Job,
  places: () => Promise<Int32Array>,
): AsyncGenerator<Entry> {
  const all = await places();
  if (all.length > 2 * maxSortedRows) {
    const message = `A sorted export has at most ${maxSortedRows} records, and this one ${all.length / 2}: export without a sort`;
    throw tooMany('sort', message);
  }
  for (let from = 0; from < all.length; from += 2 * rowsPerRead) {
    const entries = await entriesAt(context, job, all.subarray(from, from + 2 * rowsPerRead));
    for (const entry of entries) if (hasRecord(entry)) yield entry;
  }
}

/** Maximum scans of jobs that run at the same time in a process. */
const maxScans = 2;
/** Memory for the results of scans, in bytes. */
const maxBytes = 32 * 1024 * 1024;

/**
 * Results of reading all records of a job. Those of ended jobs are kept, and concurrent equal scans run once.
 */
export interface Scans<Result extends NonNullable<unknown>> {
  /** Returns the result of a scan. `name` identifies it within the job. */
  of(job: Job, name: string, scan: () => Promise<Result>): Promise<Result>;
}

/** Creates the results of scans, with at most a few scans at a time, one user after the other. */
export function createScans<Result extends NonNullable<unknown>>(
  sizeOf: (result: Result) => number,
): Scans<Result> {
  const known = createBoundedMap<Result>({ maxBytes, sizeOf });
  const open = new Map<string, Promise<Result>>();
  const waiting = createFairQueue<() => void>();
  let running = 0;

  const run = async (job: Job, scan: () => Promise<Result>): Promise<Result> => {
    if (running >= maxScans)
      await new Promise<void>((start) => waiting.add(start, { userId: job.userId, jobId: job.id }));
    else running += 1;
    try {
      return await scan();
    } finally {
      const next = waiting.take();
      if (next) next();
      else running -= 1;
    }
  };
  return {
    of(job, name, scan) {
      const key = `${job.id} ${name}`;
      const result = job.finishedAt === null ? undefined : known.get(key);
      if (result !== undefined) return Promise.resolve(result);
      const current =
        open.get(key) ??
        run(job, scan)
          .then((found) => {
            if (job.finishedAt !== null) known.set(key, found);
            return found;
          })
          .finally(() => open.delete(key));
      open.set(key, current);
      return current;
    },
  };
}
