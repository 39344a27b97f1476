import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import type { Fault } from '../contract/fault.ts';
import type { Store } from '../store/store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { changeHistories, type Histories } from './drift-record.ts';
import { computeShares, type Example, learn, noHistory } from './drift-rule.ts';
import {
  compileFields,
  createRecordCheck,
  type Field,
  missingShares,
  type RecordCheck,
  type RecordFields,
} from './record-schema.ts';

/** Detects listed fields that go missing from a market's pages. */
export interface DriftWatcher {
  /**
   * Checks the record of a page, or the entries of a listing, unless the sampling limit is reached.
   * `contradicted`: fields of the record whose values on the page contradict each other. Never
   * throws and does no I/O.
   */
  look(
    market: string,
    page: string,
    records: readonly unknown[],
    unit: Example,
    contradicted?: ReadonlySet<string>,
  ): void;
  /** Counts a page that could not be read: empty, or in an unknown form. */
  watchUnreadable(market: string, page: string, unit: Example): void;
  /**
   * Stores the pages counted since the last flush, merged with the counts of other processes, and
   * logs alarms that begin or end. Throws `unavailable`: the pages are kept for the next flush.
   */
  flush(): Promise<void>;
}

/** Options for createDriftWatcher(). */
export interface DriftOptions {
  store: Pick<Store, 'drift'>;
  clock: Clock;
  log: Log;
  /** Listed fields by market and page. */
  listedFields: Readonly<Record<string, Readonly<Record<string, RecordFields>>>>;
}

/** Name of the pseudo-field that a page lacks if it cannot be read. */
export const wholePage = '(page)';

/**
 * Sampling limit per process and page of a market: a burst of pages, and pages per second in the
 * long run. More pages would not change the result.
 */
const burst = 50;
const perSecond = 4;

/** Maximum watched pages: enough for all markets and some hundred declared sites. */
const maxWatches = 1_000;

/** Counts of a field since the last flush. */
interface Seen {
  pages: number;
  absent: number;
  contradicted: number;
  example: Example | null;
}

/** State of a field on a page. */
interface FieldSighting {
  isAbsent: boolean;
  isContradicted: boolean;
}

/** One page of a market. */
interface PageWatch {
  market: string;
  page: string;
  fields: readonly Field[];
  check: RecordCheck;
  isAllowed: () => boolean;
  seen: Map<string, Seen>;
}

/** Creates the drift watch of a process. */
export function createDriftWatcher({
  store,
  clock,
  log,
  listedFields,
}: DriftOptions): DriftWatcher {
  const watches = new Map<string, PageWatch>();
  const watchOf = (market: string, page: string): PageWatch | undefined => {
    const current = watches.get(`${market}/${page}`);
    if (current) return current;
    // The page of a site is watched apart, as "product/kiln".
    const listed = listedFields[market]?.[page.split('/')[0]!];
    if (listed === undefined || watches.size >= maxWatches) return undefined;
    const isAllowed = createAllowance(burst, perSecond, clock);
    const fields = compileFields(listed);
    const watch = {
      market,
      page,
      fields,
      check: createRecordCheck(fields),
      isAllowed,
      seen: new Map(),
    };
    watches.set(`${market}/${page}`, watch);
    return watch;
  };

  const flushWatch = async (watch: PageWatch) => {
    const { market, page, seen } = watch;
    if (seen.size === 0) return;
    watch.seen = new Map();
    const now = clock.now();
    const add = (before: Histories): Histories => ({
      ...before,
      ...Object.fromEntries(
        [...seen].map(([field, { pages, absent, contradicted, example }]) => [
          field,
          learn(before[field] ?? noHistory, [pages, absent, contradicted], example, now),
        ]),
      ),
    });
    try {
      const change = await changeHistories(store, market, page, add);
      if (change === null) restoreCounts(watch, seen);
      else logAlarms(log, watch, change);
    } catch (error) {
      restoreCounts(watch, seen);
      throw error;
    }
  };

  return {
    look(market, page, records, unit, contradicted) {
      const watch = watchOf(market, page);
      if (!watch?.isAllowed()) return;
      count(watch, wholePage, { isAbsent: false, isContradicted: false }, unit);
      for (const [index, share] of missingShares(
        watch.check,
        records.slice(0, recordsSeen),
      ).entries()) {
        const { path } = watch.fields[index]!;
        const isContradicted = contradicted?.has(path) ?? false;
        if (share !== null) count(watch, path, { isAbsent: share > 0.5, isContradicted }, unit);
      }
    },
    watchUnreadable(market, page, unit) {
      const watch = watchOf(market, page);
      if (watch?.isAllowed())
        count(watch, wholePage, { isAbsent: true, isContradicted: false }, unit);
    },
    async flush() {
      for (const watch of watches.values()) await flushWatch(watch);
    },
  };
}

/** Maximum entries of a listing that are checked. */
const recordsSeen = 10;

/** Returns the counts of a field that was not seen. */
const createSeen = (): Seen => ({
  pages: 0,
  absent: 0,
  contradicted: 0,
  example: null,
});

function count(
  { seen }: PageWatch,
  field: string,
  { isAbsent, isContradicted }: FieldSighting,
  unit: Example,
): void {
  const counts = seen.get(field) ?? createSeen();
  seen.set(field, counts);
  counts.pages += 1;
  if (isContradicted) counts.contradicted += 1;
  if (!isAbsent) return;
  counts.absent += 1;
  counts.example = { region: unit.region, input: unit.input };
}

function restoreCounts({ seen }: PageWatch, unwritten: ReadonlyMap<string, Seen>): void {
  for (const [field, { pages, absent, contradicted, example }] of unwritten) {
    const newer = seen.get(field) ?? createSeen();
    seen.set(field, {
      pages: newer.pages + pages,
      absent: newer.absent + absent,
      contradicted: newer.contradicted + contradicted,
      example: newer.example ?? example,
    });
  }
}

/** Logs the alarms that began or ended. */
function logAlarms(
  log: Log,
  { market, page }: PageWatch,
  { before, after }: { before: Histories; after: Histories },
): void {
  for (const [field, history] of Object.entries(after)) {
    const was = before[field]?.alarm ?? null;
    if ((was === null) === (history.alarm === null)) continue;
    const { pages, absent, baseline } = computeShares(history);
    const details = {
      market,
      page,
      field,
      absent,
      baseline,
      pages,
      example: history.example,
    };
    log.warn(details, history.alarm ? 'drift alarm started' : 'drift alarm ended');
  }
}

/**
 * Creates a token bucket: `burst` tokens at most, `perSecond` tokens added per second. The function
 * takes a token and returns true, or returns false if none is left.
 */
function createAllowance(
  burst: number,
  perSecond: number,
  clock: Pick<Clock, 'steady'>,
): () => boolean {
  let left = burst;
  let at = clock.steady();
  return () => {
    if (left < 1) {
      const now = clock.steady();
      left = Math.min(burst, left + ((now - at) / 1000) * perSecond);
      at = now;
    }
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

/** Reports the records and the faults of one unit to the drift watch, page by page. */
export interface DriftObserver {
  /** Records the fields of the next record whose values on its page contradict each other. */
  contradictions(fields: readonly string[]): void;
  page(records: readonly JsonObject[]): void;
  fault(fault: Fault): void;
}

/** Observer of pages that are not to be watched. */
export const unwatched: DriftObserver = { contradictions() {}, page() {}, fault() {} };

/** Creates an observer of one unit's pages of a market. */
export function createDriftObserver(
  { drift, metrics }: { drift: DriftWatcher; metrics: Metrics },
  market: string,
  page: string,
  unit: Example,
): DriftObserver {
  let contradicted: ReadonlySet<string> = new Set();
  return {
    contradictions(fields) {
      contradicted = new Set(fields);
    },
    page(records) {
      for (const field of contradicted)
        metrics.add('gleaner_contradictions_total', { market, field });
      drift.look(market, page, records, unit, contradicted);
      contradicted = new Set();
    },
    fault({ code }) {
      if (code === 'page_unreadable' || code === 'page_empty')
        drift.watchUnreadable(market, page, unit);
    },
  };
}
