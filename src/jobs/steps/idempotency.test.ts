import { fromJson } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { openJobFixture, variantSoldRequest } from '../../../test/support/jobs/jobs.ts';
import { Fault } from '../../contract/fault.ts';
import type { SubmitOptionValues } from '../../contract/submit-options.ts';
import { wrapMethods } from '../../store/wrap.ts';
import type { JobContext } from '../context.ts';
import { submit } from './submit.ts';

/**
 * Returns true for the write that marks a submission as interrupted, as opposed to its response.
 */
const isInterruption = ([, change]: readonly unknown[]) =>
  typeof change === 'object' && change !== null && 'interrupted' in change;

test('a resumed submission that fails at its first read keeps its idempotency key', async () => {
  const fixture = await openJobFixture();
  try {
    const userId = await fixture.createUser(1_000);
    const submitter = { userId, mode: 'live' as const, keyId: null, idempotencyKey: 'once' };
    const method = fixture.context.jobTypes.methods.get(
      'gleaner.mkta.v1.MktaService.SubmitVariantSold',
    )!;
    const request = fromJson(method.method.input, variantSoldRequest(2));
    const without = async (call: 'submissions.update' | 'jobs.get') => {
      const failing = async () => {
        throw new Fault('unavailable', 'The store does not answer.');
      };
      const context: JobContext = {
        ...fixture.context,
        store: wrapMethods(fixture.context.store, (name, method) => (...parameters) => {
          const isCall = name === call && !isInterruption(parameters);
          return isCall ? failing() : method(...parameters);
        }),
      };
      await expect(submit(context, method, request, submitter)).rejects.toThrow('does not answer');
      await fixture.clock.advance(61_000);
    };
    // The job is written, but its response is not: a retry cannot tell whether the job exists.
    await without('submissions.update');
    await without('jobs.get');
    const { jobId } = await fixture.submit(
      userId,
      'SubmitVariantSold',
      variantSoldRequest(2),
      'once',
    );
    const { items } = await fixture.context.store.jobs.list({ userId }, { limit: 10 });
    expect(items.map(({ id }) => id)).toEqual([jobId]);
  } finally {
    await fixture.close();
  }
});

test('validate_only=false is the same request as none', async () => {
  const fixture = await openJobFixture();
  try {
    const userId = await fixture.createUser(1_000);
    const submit = async (options: SubmitOptionValues) =>
      (await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1), 'once', options))
        .jobId;
    const jobId = await submit({});
    expect(await submit({ validateOnly: false })).toBe(jobId);
    await expect(submit({ maxCredits: 100 })).rejects.toMatchObject({ code: 'conflict' });
  } finally {
    await fixture.close();
  }
});
