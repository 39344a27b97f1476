import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { type Job, JobSchema } from '../../gen/gleaner/job/v1/job_pb.ts';
import { createManualClock, flushTasks } from '../../test/support/time/clock.ts';
import { GleanerError } from './error.ts';
import { waitForJob } from './wait.ts';

const job = (parts: MessageInitShape<typeof JobSchema>) =>
  create(JobSchema, { status: 'processing', ...parts });
const done = job({ status: 'completed', ended: true });

/** Creates a poll that returns the jobs in order, each after `takesMs`. */
function service(
  clock: ReturnType<typeof createManualClock>,
  jobs: readonly Job[],
  takesMs: (waitMs: number) => number,
) {
  const asked: { at: number; waitMs: number }[] = [];
  const ask = async (waitMs: number, signal: AbortSignal | undefined) => {
    asked.push({ at: clock.now(), waitMs });
    const response = jobs[Math.min(asked.length, jobs.length) - 1]!;
    const ms = response.ended ? 0 : takesMs(waitMs);
    if (ms > 0) await clock.sleep(ms, signal);
    return response;
  };
  return { ask, asked };
}

test('polls again immediately if the service supports waiting', async () => {
  const clock = createManualClock(0);
  const { ask, asked } = service(clock, [job({}), job({}), job({}), done], (ms) => ms);
  const ended = waitForJob(ask, clock, {});
  await flushTasks();
  await clock.advance(120_000);
  expect(await ended).toBe(done);
  expect(asked.map(({ waitMs }) => waitMs)).toEqual([0, 30_000, 30_000, 30_000]);
  expect(asked.map(({ at }) => at)).toEqual([0, 500, 30_500, 60_500]);
});

test('backs off while nothing changes if the service does not support waiting', async () => {
  const clock = createManualClock(0);
  const jobs = [...Array(6).fill(job({})), job({ success: 1 }), done];
  const { ask, asked } = service(clock, jobs, () => 0);
  const ended = waitForJob(ask, clock, {});
  await flushTasks();
  await clock.advance(120_000);
  expect(await ended).toBe(done);
  expect(asked.map(({ at }) => at)).toEqual([0, 500, 1500, 3500, 7500, 12_500, 17_500, 18_000]);
});

test('calls onProgress with the first state and every change once', async () => {
  const clock = createManualClock(0);
  const { ask, asked } = service(
    clock,
    [
      job({}),
      job({ success: 1 }),
      job({ success: 1 }),
      job({ success: 1, waitingFor: 'mkta/id' }),
      done,
    ],
    (ms) => ms,
  );
  const seen: [number, string, string][] = [];
  const ended = waitForJob(ask, clock, {
    onProgress: ({ success, waitingFor, status }) => seen.push([success, waitingFor, status]),
  });
  await flushTasks();
  await clock.advance(60_000);
  await ended;
  expect(seen).toEqual([
    [0, '', 'processing'],
    [1, '', 'processing'],
    [1, 'mkta/id', 'processing'],
    [0, '', 'completed'],
  ]);
  expect(asked.map(({ waitMs }) => waitMs)).toEqual([0, 2000, 2000, 2000, 2000]);
});

test('returns the job in its current state after the timeout', async () => {
  const clock = createManualClock(0);
  const { ask, asked } = service(clock, [job({ success: 3 })], (ms) => ms);
  const waited = waitForJob(ask, clock, { timeoutMs: 40_000 });
  await flushTasks();
  await clock.advance(60_000);
  expect(await waited).toMatchObject({ success: 3, ended: false });
  expect(asked.map(({ waitMs }) => waitMs)).toEqual([0, 30_000, 9_500]);
});

/** Creates a poll that fails for a time after its first response. */
const goesAway = (clock: ReturnType<typeof createManualClock>, forMs: number) => {
  let responders = 0;
  return async () => {
    if (clock.now() > 0 && clock.now() < forMs)
      throw new GleanerError({ status: 502, detail: 'away' });
    responders += 1;
    return responders === 1 ? job({}) : done;
  };
};

test('tolerates an outage of minutes after a first response', async () => {
  const clock = createManualClock(0);
  const ended = waitForJob(goesAway(clock, 290_000), clock, {});
  await flushTasks();
  await clock.advance(300_000);
  expect(await ended).toBe(done);
});

test('rejects after a longer outage, or without any response', async () => {
  const clock = createManualClock(0);
  const failed = expect(waitForJob(goesAway(clock, 400_000), clock, {})).rejects.toThrow('away');
  await flushTasks();
  await clock.advance(310_000);
  await failed;
  const never = async () => {
    throw new GleanerError({ status: 0, detail: 'nobody' });
  };
  await expect(waitForJob(never, clock, {})).rejects.toThrow('nobody');
});

test('rejects at once for a permanent error', async () => {
  const clock = createManualClock(0);
  let asked = 0;
  const ask = async () => {
    asked += 1;
    if (asked > 1) throw new GleanerError({ status: 401, detail: 'revoked' });
    return job({});
  };
  const failed = expect(waitForJob(ask, clock, {})).rejects.toThrow('revoked');
  await flushTasks();
  await clock.advance(1_000);
  await failed;
});

test('rejects when the signal is aborted', async () => {
  const clock = createManualClock(0);
  const stop = new AbortController();
  const { ask } = service(clock, [job({})], () => 0);
  const waited = waitForJob(ask, clock, { signal: stop.signal });
  const failed = expect(waited).rejects.toThrow('enough');
  await flushTasks();
  await clock.advance(1_000);
  stop.abort(new Error('enough'));
  await failed;
});
