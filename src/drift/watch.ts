import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { type Field, fieldsOf, lackOf } from '../base/record-shape.ts';
import type { DriftStore } from '../store/store.ts';
import { createAllowance } from './allowance.ts';
import { type Example, type FieldHistory, learn, noHistory, sharesOf } from './rule.ts';
import { changeHistories, type Histories } from './state.ts';

/** Watches whether listed fields go missing from pages. */
export interface DriftWatch {
  /** Looks at what a page gave, its record alone or a listing's entries, if it is one of those that are
   *  looked at. Never fails and waits for nothing. */
  look(market: string, page: string, records: readonly unknown[], unit: Example): void;
  /** Counts a page that was no page at all: without content, or of a shape that cannot be read. */
  lookInVain(market: string, page: string, unit: Example): void;
  /** Writes what was seen since the last time, over all workers together, and logs alarms that begin or end.
   *  Faults: `unavailable`; what was seen is kept for the next time. */
  flush(): Promise<void>;
}

/** What the watch is made of. */
export interface DriftOptions {
  store: DriftStore;
  clock: Clock;
  log: Log;
  /** Listed fields by market and page. */
  shapes: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The field that a page lacks as a whole when it cannot be read. */
export const wholePage = '(page)';

/** Pages of a market and sort that one process looks at: so many in a row, and as many a second in the long
 *  run. More would tell nothing more. */
const burst = 50;
const perSecond = 4;

/** What was seen of a field and not yet written. */
interface Seen {
  pages: number;
  absent: number;
  example: Example | null;
}

/** One sort of a market's pages. */
interface Place {
  market: string;
  page: string;
  fields: readonly Field[];
  isAllowed: () => boolean;
  seen: Map<string, Seen>;
}

/** Makes the watch of one process. */
export function createDriftWatch({ store, clock, log, shapes }: DriftOptions): DriftWatch {
  const places = new Map<string, Place>();
  for (const [market, pages] of Object.entries(shapes)) {
    for (const [page, shape] of Object.entries(pages)) {
      const isAllowed = createAllowance(burst, perSecond, clock);
      places.set(`${market}/${page}`, { market, page, fields: fieldsOf(shape), isAllowed, seen: new Map() });
    }
  }

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
      const place = places.get(`${market}/${page}`);
      if (!place?.isAllowed()) return;
      count(place, wholePage, false, unit);
      for (const field of place.fields) {
        const lack = lackOfAll(records, field);
        if (lack !== null) count(place, field.path, lack > 0.5, unit);
      }
    },
    lookInVain(market, page, unit) {
      const place = places.get(`${market}/${page}`);
      if (place?.isAllowed()) count(place, wholePage, true, unit);
    },
    async flush() {
      for (const place of places.values()) await flushPlace(place);
    },
  };
}

/** Entries of a listing's page that are looked at. */
const recordsSeen = 10;

/** The mean lack of a field over the records of a page; null where none has a place for it. */
function lackOfAll(records: readonly unknown[], field: Field): number | null {
  let total = 0;
  let places = 0;
  for (let at = 0; at < records.length && at < recordsSeen; at++) {
    const lack = lackOf(records[at], field);
    if (lack === null) continue;
    total += lack;
    places += 1;
  }
  return places === 0 ? null : total / places;
}

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

/** Logs the alarms that began or ended with a change. */
function tell(
  log: Log,
  { market, page }: Place,
  { before, after }: { before: Histories; after: Histories },
): void {
  for (const [field, history] of Object.entries(after)) {
    const was = before[field]?.alarm ?? null;
    if ((was === null) === (history.alarm === null)) continue;
    const { pages, absent, usual } = sharesOf(history);
    const details = { market, page, field, absent, usual, pages, example: history.example };
    const words = wordsOf(market, page, field, history);
    if (history.alarm) log.warn(details, `${words}: the page has changed, or what is read of it`);
    else log.warn(details, `${words}: the alarm is over`);
  }
}

/** "field price.amount of mkte product absent in 43 % of the last 200 pages" */
export function wordsOf(market: string, page: string, field: string, history: FieldHistory): string {
  const { pages, absent } = sharesOf(history);
  return `field ${field} of ${market} ${page} absent in ${Math.round(absent * 100)} % of the last ${pages} pages`;
}
