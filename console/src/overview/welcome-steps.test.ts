import { expect, test } from 'vitest';
import { type FirstUse, welcomeSteps } from './welcome-steps.ts';

const jobsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ jobId: `job-${at}` }));

const doneOf = (use: Partial<FirstUse>) =>
  welcomeSteps({ jobs: [], exampleIds: [], hasSchedule: false, ...use })
    .filter(({ isDone }) => isDone)
    .map(({ id }) => id);

test.each<[title: string, use: Partial<FirstUse>, done: string[]]>([
  ['nothing at first', {}, []],
  ['an example of the test account', { exampleIds: ['other'] }, ['example']],
  ['an example', { jobs: jobsOf(1), exampleIds: ['job-0'] }, ['example']],
  ['a job that is no example', { jobs: jobsOf(1) }, ['example', 'list']],
  ['a schedule without a run', { hasSchedule: true }, ['schedule']],
])('welcomeSteps() ticks %s', (_title, use, done) => {
  expect(doneOf(use)).toEqual(done);
});

test('welcomeSteps() has no steps when all are done, or with many jobs', () => {
  const use = { jobs: jobsOf(2), exampleIds: [], hasSchedule: true };
  expect(welcomeSteps(use)).toEqual([]);
  expect(welcomeSteps({ ...use, jobs: jobsOf(10), hasSchedule: false })).toEqual([]);
  expect(welcomeSteps({ ...use, hasSchedule: false })).toHaveLength(3);
});
