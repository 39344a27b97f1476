import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  create,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { beforeEach, expect, test } from 'vitest';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { openCore } from '../../../test/support/rpc/core.ts';
import { createKey } from '../../access/keys.ts';
import { createAuthenticator } from '../../access/principal.ts';
import { openExport } from '../../store/sqlite/export.ts';
import { openSqliteStore } from '../../store/sqlite/open.ts';
import { createCore } from './core.ts';
import type { Call } from './handlers.ts';

let path: string;
let fixture: JobFixture;
let userId: string;
/** Calls a method with the option `validate_only`, or without options. */
let call: <M extends DescMethod>(
  method: M,
  request: MessageInitShape<M['input']>,
  validateOnly?: boolean,
) => Promise<MessageShape<M['output']>>;

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-quote-'));
  path = join(folder, 'gleaner.db');
  fixture = await openJobFixture({ approval: false }, openSqliteStore({ path }));
  userId = await fixture.createUser(100);
  const { store, clock } = fixture.context;
  const { apiKey } = await createKey(store, {
    userId,
    role: 'user',
    name: 'test',
    createdAt: clock.now(),
    expiresAt: null,
  });
  const core = createCore(fixture.context, [MktaService, JobService]);
  const principal = await createAuthenticator(fixture.context)(`Bearer ${apiKey}`);
  call = (method, request, validateOnly = true) => {
    const submitOptions = create(SubmitOptionsSchema, { validateOnly });
    const context = { principal, submitOptions, idempotencyKey: 'key', waitMs: 0, source: '' };
    const options = { ...context, responseHeaders: {}, signal: new AbortController().signal };
    return core.unary(method, create(method.input, request), options as unknown as Call) as never;
  };
  return async () => {
    await fixture.close();
    rmSync(folder, { recursive: true });
  };
});

/** Returns every document of the store. */
function contents(): Record<string, unknown[]> {
  const source = openExport(path);
  try {
    return Object.fromEntries(source.kinds.map((kind) => [kind, [...source.read(kind)]]));
  } finally {
    source.close();
  }
}

test('a quote of a submission writes nothing, and its idempotency key is free', async () => {
  const { submitVariantSold, submitGetPc } = MktaService.method;
  const before = contents();
  const { quote, ...response } = await call(submitVariantSold, variantSoldRequest(3));
  expect(quote).toMatchObject({ accepted: true, cost: 30, balance: 100n });
  expect(response).toMatchObject({ jobId: '', cost: 0 });
  expect(await call(submitVariantSold, variantSoldRequest(11))).toMatchObject({
    quote: { accepted: false, shortfall: 10n },
  });
  const single = { region: 'sg', itemId: '20101', shopId: '7' };
  expect(await call(submitGetPc, single)).toMatchObject({ quote: { cost: 8 } });
  expect(contents()).toEqual(before);

  const submitted = await call(submitVariantSold, variantSoldRequest(3), false);
  expect(submitted).toMatchObject({ cost: 30, jobId: expect.stringMatching(/./) });
  expect(submitted.quote).toBeUndefined();
  expect(contents()).not.toEqual(before);
});

test('a quote of a retry writes nothing, and is refused like the retry', async () => {
  const { retryJob } = JobService.method;
  fixture.wrapFetch(() => async () => {
    throw new Error('this site is broken');
  });
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
  const { code } = await call(retryJob, { jobId }).catch((error) => error);
  expect(code).toBe('conflict');
  const worker = await fixture.startWorker();
  await fixture.waitForState(jobId, 'failed');
  await worker.stop();
  const before = contents();
  expect((await call(retryJob, { jobId })).quote).toMatchObject({
    units: 2,
    cost: 20,
    balanceAfter: 80n,
  });
  expect(contents()).toEqual(before);
});

test("an operator's retry has the options of its call", async () => {
  const { retryJob } = JobService.method;
  fixture.wrapFetch(() => async () => {
    throw new Error('this site is broken');
  });
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
  const worker = await fixture.startWorker();
  await fixture.waitForState(jobId, 'failed');
  await worker.stop();
  fixture.context.settings.approval = true;
  const { operator } = await openCore(fixture.context);
  const retryWith = (options: MessageInitShape<typeof SubmitOptionsSchema>) =>
    operator.call(retryJob, { jobId }, { submitOptions: create(SubmitOptionsSchema, options) });
  const work = () => [contents().jobs, contents().ledger];
  const before = work();
  const { quote } = await retryWith({ validateOnly: true });
  expect(quote).toMatchObject({ cost: 20, balanceAfter: 80n, needsApproval: false, delays: [] });
  await expect(retryWith({ maxCredits: 19 })).rejects.toMatchObject({
    code: 'max_credits_exceeded',
  });
  expect(work()).toEqual(before);
  expect(await retryWith({ name: 'Again' })).toMatchObject({ options: { name: 'Again' } });
});
