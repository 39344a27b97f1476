import { expect, test } from 'vitest';
import { createManualClock } from '../../test/support/clock.ts';
import { aJob } from '../store/conformance/samples.ts';
import { processJobs, type SweepPlaces } from './pages.ts';

const clock = createManualClock(0);

/** Creates a list of `count` jobs that records which were visited. */
function listOf(count: number, visit: (at: number) => Promise<void> = async () => {}) {
  const jobs = Array.from({ length: count }, (_, at) =>
    aJob({ id: `${at}`.padStart(3, '0'), stateSince: at >> 2 }),
  );
  const visited: number[] = [];
  return {
    visited,
    list: {
      name: 'list',
      find: async (limit: number, after: { at: number; id: string } | null) =>
        jobs
          .filter(
            ({ stateSince, id }) =>
              after === null || stateSince > after.at || (stateSince === after.at && id > after.id),
          )
          .slice(0, limit),
      placeOf: ({ stateSince: at, id }: { stateSince: number; id: string }) => ({ at, id }),
      run: async ({ id }: { id: string }) => {
        visited.push(Number(id));
        await visit(Number(id));
      },
    },
  };
}

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

test('processJobs() visits each job once if the list fits into a round', async () => {
  const places: SweepPlaces = new Map();
  const { list, visited } = listOf(10);
  await processJobs(list, places, clock, undefined, { pageSize: 5, maxJobs: 100, maxMs: 1_000 });
  expect(visited).toEqual(upTo(0, 10));
  expect(places.size).toBe(0);
});

test('processJobs() resumes where the previous round stopped and restarts after the end', async () => {
  const places: SweepPlaces = new Map();
  const { list, visited } = listOf(10);
  const limits = { pageSize: 3, maxJobs: 4, maxMs: 1_000 };
  for (let round = 0; round < 4; round += 1) await processJobs(list, places, clock, undefined, limits);
  expect(visited).toEqual([...upTo(0, 10), ...upTo(0, 4)]);
});

test('processJobs() ends a round after the job that exceeds the time limit', async () => {
  const places: SweepPlaces = new Map();
  const { list, visited } = listOf(10, () => clock.advance(400));
  const limits = { pageSize: 5, maxJobs: 100, maxMs: 1_000 };
  await processJobs(list, places, clock, undefined, limits);
  expect(visited).toEqual([0, 1, 2]);
  await processJobs(list, places, clock, undefined, limits);
  expect(visited).toEqual(upTo(0, 6));
});

test('processJobs() stops when the signal is aborted', async () => {
  const stopping = new AbortController();
  const { list, visited } = listOf(10, async () => stopping.abort());
  await processJobs(list, new Map(), clock, stopping.signal);
  expect(visited).toEqual([0]);
});
