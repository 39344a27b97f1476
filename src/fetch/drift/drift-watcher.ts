import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import {
  createRecordCheck,
  type Field,
  missingShares,
  parseFields,
  type RecordCheck,
} from '../../base/record-schema.ts';
import type { Store } from '../../store/store.ts';
import { changeHistories, type Histories } from './drift-record.ts';
import { computeShares, type Example, learn, noHistory } from './drift-rule.ts';

/** Detects listed fields that go missing from a market's pages. */
export interface DriftWatcher {
  /**
   * Checks the record of a page, or the entries of a listing, unless the sampling limit is reached. Never
   * throws and does no I/O.
   */
  look(market: string, page: string, records: readonly unknown[], unit: Example): void;
  /** Counts a page that could not be read: empty, or in an unknown form. */
  watchUnreadable(market: string, page: string, unit: Example): void;
  /**
   * Stores the pages counted since the last flush, merged with the counts of other processes, and logs alarms
   * that begin or end. Throws `unavailable`: the pages are kept for the next flush.
   */
  flush(): Promise<void>;
}

/** Options for createDriftWatcher(). */
export interface DriftOptions {
  store: Pick<Store, 'drift'>;
  clock: Clock;
  log: Log;
  /** Listed fields by market and page, in the notation of parseFields(). */
  shapes: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Name of the pseudo-field that a page lacks if it cannot be read. */
export const wholePage = '(page)';

/**
 * Sampling limit per process and page of a market: a burst of pages, and pages per second in the long run.
 * More pages would not change the result.
 */
const burst = 50;
const perSecond = 4;

/** Maximum pages that are watched: those of the markets, and of some hundred declared sites. */
const maxPlaces = 1_000;

/** Counts of a field since the last flush. */
interface Seen {
  pages: number;
  absent: number;
  example: Example | null;
}

/** One page of a market. */
interface Place {
  market: string;
  page: string;
  fields: readonly Field[];
  check: RecordCheck;
  isAllowed: () => boolean;
  seen: Map<string, Seen>;
}

/** Creates the drift watch of a process. */
export function createDriftWatcher({ store, clock, log, shapes }: DriftOptions): DriftWatcher {
  const places = new Map<string, Place>();
  const placeOf = (market: string, page: string): Place | undefined => {
    const known = places.get(`${market}/${page}`);
    if (known) return known;
    // The page of a site is watched apart, as "product/kiln".
    const shape = shapes[market]?.[page.split('/')[0]!];
    if (shape === undefined || places.size >= maxPlaces) return undefined;
    const isAllowed = createAllowance(burst, perSecond, clock);
    const fields = parseFields(shape);
    const place = { market, page, fields, check: createRecordCheck(fields), isAllowed, seen: new Map() };
    places.set(`${market}/${page}`, place);
    return place;
  };

  const flushPlace = async (place: Place) => {
    const { market, page, seen } = place;
    if (seen.size === 0) return;
    place.seen = new Map();
    const now = clock.now();
    const add = (before: Histories): Histories => ({
      ...before,
      ...Object.fromEntries(
        [...seen].map(([field, { pages, absent, example }]) => [
          field,
          learn(before[field] ?? noHistory, [pages, absent], example, now),
        ]),
      ),
    });
    try {
      const change = await changeHistories(store, market, page, add);
      if (change === null) putBack(place, seen);
      else tell(log, place, change);
    } catch (error) {
      putBack(place, seen);
      throw error;
    }
  };

  return {
    look(market, page, records, unit) {
      const place = placeOf(market, page);
      if (!place?.isAllowed()) return;
      count(place, wholePage, false, unit);
      for (const [index, share] of missingShares(place.check, records.slice(0, recordsSeen)).entries())
        if (share !== null) count(place, place.fields[index]!.path, share > 0.5, unit);
    },
    watchUnreadable(market, page, unit) {
      const place = placeOf(market, page);
      if (place?.isAllowed()) count(place, wholePage, true, unit);
    },
    async flush() {
      for (const place of places.values()) await flushPlace(place);
    },
  };
}

/** Maximum entries of a listing that are checked. */
const recordsSeen = 10;

function count({ seen }: Place, field: string, isAbsent: boolean, unit: Example): void {
  let known = seen.get(field);
  if (known === undefined) {
    known = { pages: 0, absent: 0, example: null };
    seen.set(field, known);
  }
  known.pages += 1;
  if (!isAbsent) return;
  known.absent += 1;
  known.example = { region: unit.region, input: unit.input };
}

function putBack({ seen }: Place, unwritten: ReadonlyMap<string, Seen>): void {
  for (const [field, { pages, absent, example }] of unwritten) {
    const newer = seen.get(field) ?? { pages: 0, absent: 0, example: null };
    seen.set(field, {
      pages: newer.pages + pages,
      absent: newer.absent + absent,
      example: newer.example ?? example,
    });
  }
}

/** Logs the alarms that began or ended. */
function tell(
  log: Log,
  { market, page }: Place,
  { before, after }: { before: Histories; after: Histories },
): void {
  for (const [field, history] of Object.entries(after)) {
    const was = before[field]?.alarm ?? null;
    if ((was === null) === (history.alarm === null)) continue;
    const { pages, absent, baseline } = computeShares(history);
    const details = { market, page, field, absent, baseline, pages, example: history.example };
    log.warn(details, history.alarm ? 'drift alarm started' : 'drift alarm ended');
  }
}

/**
 * Creates a token bucket: `burst` tokens at most, `perSecond` tokens added per second. The function takes a
 * token and returns true, or returns false if none is left.
 */
function createAllowance(burst: number, perSecond: number, clock: Pick<Clock, 'now'>): () => boolean {
  let left = burst;
  let at = clock.now();
  return () => {
    if (left < 1) {
      const now = clock.now();
      left = Math.min(burst, left + ((now - at) / 1000) * perSecond);
      at = now;
    }
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
