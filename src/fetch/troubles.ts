import { createBoundedMap } from '../base/bounded-map.ts';

/** What happened to the pages of one origin lately, in this process. */
export interface Troubles {
  /** A page came as it should. */
  well(page: string): void;
  /**
   * A page was refused; true when that tells of the origin. `asked`: the site said itself that it
   * wants to be left alone, which tells at once.
   */
  refused(page: string, asked: boolean): boolean;
  /** A page did not come; true when that tells of the origin. */
  failed(page: string): boolean;
  /** Whether a page was refused or did not come, and not well since. */
  has(page: string): boolean;
  /** A pause begins. */
  struck(): void;
  /** So many pages came well since the last pause that a new one has nothing to do with it. */
  readonly calm: boolean;
}

/** Pages that came well after a page was refused, for its next refusal to be its own affair. */
const wellBetween = 3;

/** Pages that come well after a pause, for it to be over and done with. */
const wellAfter = 10;

/** Different pages that are refused, or do not come, in a row, for it to tell of the origin. */
const refusedInRow = 2;
const failedInRow = 5;

/** Pages remembered at once, and memory for their paths: callers choose them. */
const maxEntries = 1_000;
const maxBytes = 128 * 1024;

/**
 * Tells an origin that refuses from a page that is refused. One page alone never does, however often
 * it is tried, unless the site asks to be left alone; and a page that is refused again while others
 * come well is a matter of that page even then.
 */
export function createTroubles(): Troubles {
  let wells = 0;
  let wellsWhenStruck = 0;
  /** Pages with trouble, and how many had come well when it began. */
  const troubled = createBoundedMap<number>({ maxBytes, maxEntries, sizeOf: () => 8 });
  /** Pages in a row since one came well; further ones than tell of the origin are not kept. */
  const refusals = new Set<string>();
  const failures = new Set<string>();

  const trouble = (page: string): boolean => {
    const began = troubled.get(page) ?? wells;
    troubled.set(page, began);
    return wells - began >= wellBetween;
  };

  return {
    well: (page) => {
      wells += 1;
      troubled.delete(page);
      refusals.clear();
      failures.clear();
    },
    refused: (page, asked) => {
      if (trouble(page)) return false;
      if (refusals.size < refusedInRow) refusals.add(page);
      return asked || refusals.size >= refusedInRow;
    },
    failed: (page) => {
      if (trouble(page)) return false;
      if (failures.size < failedInRow) failures.add(page);
      return failures.size >= failedInRow;
    },
    has: (page) => troubled.peek(page) !== undefined,
    struck: () => {
      wellsWhenStruck = wells;
    },
    get calm() {
      return wells - wellsWhenStruck >= wellAfter;
    },
  };
}
