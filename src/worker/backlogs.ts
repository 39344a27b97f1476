import type { JobContext } from '../jobs/context.ts';

/** Batches of each user that a worker has in hand, waiting or in progress. */
export interface Backlogs {
  /** Adds a batch of a user. Returns the function that removes it. */
  add(userId: string): () => void;
  /** Returns the number of batches of a user. */
  of(userId: string): number;
}

/** Creates empty backlogs. */
export function createBacklogs(): Backlogs {
  const counts = new Map<string, number>();
  const of: Backlogs['of'] = (userId) => counts.get(userId) ?? 0;
  return {
    of,
    add: (userId) => {
      counts.set(userId, of(userId) + 1);
      return () => {
        const left = of(userId) - 1;
        if (left > 0) counts.set(userId, left);
        else counts.delete(userId);
      };
    },
  };
}

/** Wraps page access so that requests for permits carry the backlog of their user. */
export function withBacklogs(pages: JobContext['pages'], backlogs: Backlogs): JobContext['pages'] {
  return {
    ...pages,
    openSession: (market, region, signal, caller) => {
      const { owner } = caller;
      const counted = owner && { ...owner, backlog: backlogs.of(owner.userId) };
      return pages.openSession(market, region, signal, counted ? { ...caller, owner: counted } : caller);
    },
  };
}
