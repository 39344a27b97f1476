import { expect, test } from 'vitest';
import { aJob } from '../../store/conformance/samples.ts';
import { createScans } from './scans.ts';

test('a scan of an ended job is not one that began while the job ran', async () => {
  const scans = createScans<string>(({ length }) => length);
  const running = aJob();
  const ended = { ...running, state: 'completed' as const, finishedAt: running.createdAt + 1 };
  const started = Promise.withResolvers<string>();
  const early = scans.of(running, 'prices', () => started.promise);
  const joined = scans.of(running, 'prices', async () => 'not run');
  const complete = scans.of(ended, 'prices', async () => '1 and 2');
  started.resolve('1');
  expect(await Promise.all([early, joined, complete])).toEqual(['1', '1', '1 and 2']);
  expect(await scans.of(ended, 'prices', async () => 'not run')).toBe('1 and 2');
});
