import { timestampMs } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from 'vitest';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { type CoreCaller, openCore } from '../../../test/support/rpc/core.ts';
import { loadConfig } from '../../base/config.ts';
import { newId } from '../../base/id.ts';
import { parseOrigins } from '../../base/origins.ts';
import { approve } from '../../jobs/steps/decide.ts';
import type { OriginMinute } from '../../store/operations.ts';

const { getWork, listOrigins, listSettings, listSetupProblems } = OperatorService.method;
const minuteMs = 60_000;

const origins = parseOrigins(
  JSON.stringify({
    mkta: {
      sg: 'https://sg.example',
      th: 'https://th.example',
      concurrency: 3,
      requests_per_second: 1.5,
    },
    mktf: {},
  }),
);

let fixture: JobFixture;
let operator: CoreCaller;
beforeEach(async () => {
  const { effectiveSettings } = loadConfig({
    GLEANER_APPROVAL: 'off',
    GLEANER_OPERATOR_KEY: 'choose-a-long-one',
  });
  fixture = await openJobFixture({ origins, effectiveSettings, jobWindow: 2 });
  operator = (await openCore(fixture.context)).operator;
  return () => fixture.close();
});

test('getWork returns the backlog by market and lane', async () => {
  expect((await operator.call(getWork, {})).backlog).toEqual([]);
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(120));
  await approve(fixture.context, jobId, newId());
  const [batch] = await fixture.context.store.batches.find({ jobId });
  await fixture.clock.advance(5_000);
  const now = fixture.clock.now();
  await fixture.context.store.batches.claim(batch!, 0, now, now + 10_000);
  const { backlog } = await operator.call(getWork, {});
  expect(backlog).toMatchObject([{ market: 'mkta', lane: 'bulk', queued: 1, claimed: 1 }]);
});

test('getWork lists processes with a recent heartbeat', async () => {
  const { store } = fixture.context;
  const startedAt = fixture.clock.now();
  const about = {
    role: 'worker',
    host: 'one.example',
    pid: 77,
    version: '1.2.3',
    startedAt,
    workers: 2,
    batches: 4,
  };
  const id = newId();
  const paused = 'disk almost full';
  await store.processes.upsert([
    {
      ...about,
      id,
      seenAt: startedAt,
      memoryBytes: 6e9,
      unitsDone: 12,
      paused,
      clockSkewMs: -20_000,
    },
  ]);
  await fixture.clock.advance(minuteMs);
  const { processes } = await operator.call(getWork, {});
  expect(processes).toMatchObject([
    {
      id,
      role: 'worker',
      host: 'one.example',
      pid: 77,
      memoryBytes: 6_000_000_000n,
      workers: 2,
      batches: 4,
      unitsDone: 12n,
      paused,
      clockSkewMs: -20_000n,
    },
  ]);
  expect(timestampMs(processes[0]!.seenAt!)).toBe(startedAt);
  await fixture.clock.advance(1);
  expect((await operator.call(getWork, {})).processes).toEqual([]);
});

test('listOrigins returns configured origins with request counts and pauses', async () => {
  const { store } = fixture.context;
  const now = fixture.clock.now();
  const minute = Math.floor(now / minuteMs) * minuteMs;
  const row = (fields: Partial<OriginMinute>): OriginMinute => ({
    origin: 'https://sg.example',
    market: 'mkta',
    region: 'sg',
    minute,
    requests: 4,
    refused: 1,
    failed: 0,
    milliseconds: 900,
    ...fields,
  });
  const store1 = { origin: 'https://shop.example', market: 'mktf', region: '' };
  await store.originMinutes.accumulate([
    row({}),
    row({ minute: minute - minuteMs, requests: 0, refused: 1, milliseconds: 0 }),
    row({ minute: minute - 61 * minuteMs }),
    row(store1),
  ]);
  const pause = {
    revision: 1,
    until: now + 5_000,
    reason: 'page_blocked',
    failures: 2,
    since: now - 9,
    probing: false,
  };
  await store.origins.putPause('https://th.example', pause);
  await store.origins.putPause('https://gone.example', pause);
  const shown = (await operator.call(listOrigins, {})).origins;
  expect(shown.map(({ origin, market, region }) => `${origin} ${market}/${region}`)).toEqual([
    'https://gone.example /',
    'https://sg.example mkta/sg',
    'https://shop.example mktf/',
    'https://th.example mkta/th',
  ]);
  const [gone, sg, shop, th] = shown;
  expect(sg).toMatchObject({ concurrency: 3, requestsPerSecond: 1.5, strikes: 0, reason: '' });
  expect(sg?.pausedUntil).toBeUndefined();
  const minutes = sg!.minutes.map(({ at, $typeName: _, ...counts }) => [timestampMs(at!), counts]);
  expect(minutes).toEqual([
    [minute - minuteMs, { requests: 0, refused: 1, failed: 0, milliseconds: 0 }],
    [minute, { requests: 4, refused: 1, failed: 0, milliseconds: 225 }],
  ]);
  expect(shop).toMatchObject({ concurrency: 2, requestsPerSecond: 2 });
  for (const paused of [gone, th]) {
    expect(paused).toMatchObject({ reason: 'page_blocked', strikes: 2, probing: false });
    expect(timestampMs(paused!.pausedUntil!)).toBe(now + 5_000);
  }
  expect(gone).toMatchObject({ concurrency: 0, requestsPerSecond: 0 });
});

test('listSettings returns effective settings without secrets', async () => {
  const { settings } = await operator.call(listSettings, {});
  const named = (name: string) => settings.find((setting) => setting.name === name);
  expect(named('GLEANER_APPROVAL')).toMatchObject({ value: 'off', set: true });
  expect(named('GLEANER_HTTP_PORT')).toMatchObject({ value: '8080', set: false });
  expect(named('GLEANER_OPERATOR_KEY')).toMatchObject({ value: '(set)', set: true });
  expect(settings.every(({ about }) => about.length > 10)).toBe(true);
});

test('listSetupProblems lists what is not set up, and what to do', async () => {
  const { problems } = await operator.call(listSetupProblems, {});
  expect(problems.map(({ name }) => name)).toEqual([
    'backup',
    'public address',
    'messages to operators',
  ]);
  expect(problems[0]).toMatchObject({
    message: expect.stringContaining('lost disk'),
    remedy: expect.stringContaining('GLEANER_BACKUP_TO'),
    guide: 'backups#scheduled-backups',
  });
});
