import { findLiveProcesses, queueUnavailable, silentMs } from '../store/operations.ts';
import type { Store } from '../store/store.ts';

/** Range of ids: a condition of a query. */
export interface IdRange {
  atLeast?: string;
  below?: string;
}

/** Share of a process in the sweeps of an installation. */
export interface SweepShare {
  /**
   * True if it also does what cannot be divided: schedules, records that expire, messages about
   * drift, times of a wrong clock.
   */
  isLeader: boolean;
  /** Ids of the jobs and users that it sweeps. Undefined: all. */
  ids: IdRange | undefined;
}

/** Share of the only process. */
export const wholeShare: SweepShare = { isLeader: true, ids: undefined };

/** Number of values of the first eight digits of an id, which is a random UUID. */
const prefixes = 2 ** 32;

/** Returns the share of the process with the rank `rank`, from 0, of `count` processes. */
export function shareOf(rank: number, count: number): SweepShare {
  if (count === 1) return wholeShare;
  const boundary = (index: number) =>
    Math.floor((prefixes / count) * index)
      .toString(16)
      .padStart(8, '0');
  const ids: IdRange = {};
  if (rank > 0) ids.atLeast = boundary(rank);
  if (rank < count - 1) ids.below = boundary(rank + 1);
  return { isLeader: rank === 0, ids };
}

/**
 * Returns the share of a process. Null if it has not reported yet, or cannot reach the queue while
 * other processes can. The processes that report are ranked by their start. Until they see each
 * other's reports, shares may overlap, which is harmless, or leave a gap: then jobs that are
 * overdue are continued by any process.
 */
export async function readShare(
  store: Pick<Store, 'processes'>,
  processId: string,
  now: number,
): Promise<SweepShare | null> {
  const live = await findLiveProcesses(store, now, silentMs).catch(() => []);
  const reaching = live.filter(({ paused }) => paused !== queueUnavailable);
  const members = reaching.length > 0 ? reaching : live;
  if (members.length === 0) return wholeShare;
  const rank = members.findIndex(({ id }) => id === processId);
  return rank < 0 ? null : shareOf(rank, members.length);
}
