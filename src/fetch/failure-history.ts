import { createBoundedMap } from '../base/bounded-map.ts';

/** Recent outcomes of one origin's pages, in this process. */
export interface FailureHistory {
  /** Records a page that was fetched successfully. */
  succeeded(page: string): void;
  /**
   * Records a refused page. Returns true if the whole origin is affected. `explicit`: the site
   * asked for a pause, so that one refusal is enough.
   */
  refused(page: string, explicit: boolean): boolean;
  /** Records a page without a usable response. Returns true if the whole origin is affected. */
  failed(page: string): boolean;
  /** Returns true if a page was refused or failed, and has not succeeded since. */
  has(page: string): boolean;
  /** Records the start of a pause. */
  pauseStarted(): void;
  /** True once enough pages have succeeded since the last pause to treat a new one as unrelated. */
  readonly recovered: boolean;
}

/** Successes of other pages after which a repeated refusal implicates only the refused page. */
const successesBetween = 3;

/** Successes after a pause until the origin counts as recovered. */
const successesToRecover = 10;

/**
 * Distinct pages that must be refused, or fail, in a row before the whole origin counts as
 * affected.
 */
const refusedInRow = 2;
const failedInRow = 5;

/** Limits on the remembered pages, whose paths callers choose. */
const maxEntries = 1_000;
const maxBytes = 128 * 1024;

/**
 * Creates an empty history. It distinguishes an origin that refuses requests from a single page
 * that does: one page never implicates the origin, however often it is retried, unless the site
 * asks for a pause. Even then, a page that is refused again while others succeed implicates only
 * itself.
 */
export function createFailureHistory(): FailureHistory {
  let successes = 0;
  let successesAtPause = 0;
  /** Success count at the first failure of each failing page. */
  const failing = createBoundedMap<number>({ maxBytes, maxEntries, sizeOf: () => 8 });
  /** Distinct pages in a row without a success, up to the threshold. */
  const refusals = new Set<string>();
  const failures = new Set<string>();

  const isPageSpecific = (page: string): boolean => {
    const first = failing.get(page) ?? successes;
    failing.set(page, first);
    return successes - first >= successesBetween;
  };

  return {
    succeeded: (page) => {
      successes += 1;
      failing.delete(page);
      refusals.clear();
      failures.clear();
    },
    refused: (page, explicit) => {
      if (isPageSpecific(page)) return false;
      if (refusals.size < refusedInRow) refusals.add(page);
      return explicit || refusals.size >= refusedInRow;
    },
    failed: (page) => {
      if (isPageSpecific(page)) return false;
      if (failures.size < failedInRow) failures.add(page);
      return failures.size >= failedInRow;
    },
    has: (page) => failing.peek(page) !== undefined,
    pauseStarted: () => {
      successesAtPause = successes;
    },
    get recovered() {
      return successes - successesAtPause >= successesToRecover;
    },
  };
}
