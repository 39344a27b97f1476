import { fromJson } from '@bufbuild/protobuf';
import { beforeEach, expect, test } from 'vitest';
import { contextWith } from '../../test/support/jobs/context.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { parseOrigins } from '../base/origins.ts';
import { createOriginResolver } from '../fetch/origin-resolver.ts';
import { logMissingOrigins } from './origins.ts';
import { submit } from './steps/submit.ts';

const origins = parseOrigins('{ "mkta": { "sg": "http://127.0.0.1:1" } }');

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false, origins });
  return () => fixture.close();
});

const submitTo = async (country: string, idempotencyKey?: string, user?: string) => {
  const { context } = fixture;
  const userId = user ?? (await fixture.createUser(100));
  const method = context.jobTypes.methods.get('gleaner.mkta.v1.MktaService.SubmitVariantSold')!;
  const request = fromJson(method.method.input, { ...variantSoldRequest(2), country });
  const warnings: string[] = [];
  const submitter = { userId, mode: 'live' as const, keyId: null, idempotencyKey };
  await submit(context, method, request, submitter, (text) => warnings.push(text));
  const { items } = await context.store.jobs.list({ userId }, { limit: 1 });
  return { jobId: items[0]!.id, warnings, userId };
};

test('submitting for a region without an origin succeeds with a warning that names it', async () => {
  expect((await submitTo('th')).warnings).toEqual([
    'No origin is configured for mkta/th. These units fail and are refunded. Ask an operator to add it to the origins file.',
  ]);
});

test('submitting for a region with an origin returns no warning', async () => {
  expect((await submitTo('sg')).warnings).toEqual([]);
});

test('a repeated submission has the warning of the first', async () => {
  const first = await submitTo('th', 'key-1');
  const second = await submitTo('th', 'key-1', first.userId);
  expect(second).toEqual(first);
  expect(second.warnings).toHaveLength(1);
});

test('units of a region without an origin fail at the first attempt with the remedy, and are refunded', async () => {
  const resolveOrigin = createOriginResolver(origins);
  let attempts = 0;
  fixture.wrapFetch(() => async () => {
    attempts += 1;
    throw new Error(resolveOrigin('mkta', 'th', {}));
  });
  await fixture.startWorker();
  const { jobId, userId } = await submitTo('th');
  const job = await fixture.waitForState(jobId, 'failed');
  expect(attempts).toBe(2);
  const [batch] = await Array.fromAsync(fixture.context.store.batches.read(jobId));
  expect(batch!.outcomes[0]).toEqual({
    status: 'FAILED',
    code: 'origin_missing',
    message:
      'no origin is configured for mkta/th: an operator must add "mkta": {"th": "https://…"} to the file of GLEANER_ORIGINS and restart the service',
  });
  expect(job.refunded).toBe(job.cost);
  expect(await fixture.balance(userId)).toBe(100);
});

test('logMissingOrigins() names markets without an entry and regions without an origin', () => {
  const logged: unknown[] = [];
  const market = (name: string, ...regions: string[]) =>
    [name, { market: { name, regions, hasNamedOrigins: regions.length === 0 } }] as const;
  const methods = new Map([
    market('mkta', 'sg', 'th'),
    market('mktb', 'id'),
    market('mktc', 'id'),
    market('mktf'),
  ]) as never;
  const configured = parseOrigins(
    '{ "mkta": { "sg": "http://127.0.0.1:1" }, "mktc": "http://127.0.0.1:2" }',
  );
  const log = { warn: (fields: unknown) => void logged.push(fields) } as never;
  logMissingOrigins(contextWith({ jobTypes: { methods }, settings: { origins: configured }, log }));
  expect(logged).toEqual([{ missing: ['mkta/th', 'mktb'] }]);
});
