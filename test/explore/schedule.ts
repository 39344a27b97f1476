import { random } from '../../sandbox/random.ts';
import { maxSeed } from '../support/run/seeds.ts';
import type { Search } from './searches.ts';

/** The parts of a search that decide when it runs. */
export type ScheduledSearch = Pick<Search, 'name' | 'minSeconds'>;

/** A run of a search. */
export interface Turn<S extends ScheduledSearch> {
  search: S;
  seed: number;
}

/** What a schedule depends on. */
export interface ScheduleOptions<S extends ScheduledSearch> {
  searches: readonly S[];
  /** Seed of the first run. */
  firstSeed: number;
  /** Returns the rest of the time, in seconds. */
  remainingSeconds(): number;
}

/**
 * Yields runs without end. Each round has one run of each cheap search, and one of the next long
 * search that the remaining time suffices for. The seed of a run depends on the first seed, on the
 * search, and on the number of its earlier runs.
 */
export function* scheduleRuns<S extends ScheduledSearch>(
  options: ScheduleOptions<S>,
): Generator<Turn<S>> {
  const { searches, firstSeed, remainingSeconds } = options;
  const cheap = searches.filter(({ minSeconds }) => minSeconds === 0);
  let waiting = searches.filter(({ minSeconds }) => minSeconds > 0);
  const runCounts = new Map<S, number>();
  const start = (search: S): Turn<S> => {
    const earlierRuns = runCounts.get(search) ?? 0;
    const isFirst = runCounts.size === 0;
    runCounts.set(search, earlierRuns + 1);
    return { search, seed: isFirst ? firstSeed : deriveSeed(firstSeed, search.name, earlierRuns) };
  };
  for (;;) {
    for (const search of cheap) yield start(search);
    const long = waiting.find(({ minSeconds }) => minSeconds <= remainingSeconds());
    if (long === undefined) continue;
    waiting = [...waiting.filter((search) => search !== long), long];
    yield start(long);
  }
}

const deriveSeed = (firstSeed: number, name: string, earlierRuns: number): number =>
  random(`${firstSeed} ${name} ${earlierRuns}`).integer(1, maxSeed);
