import { fromJson } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { Fault } from '../base/fault.ts';
import type { JobContext } from './context.ts';
import { submit } from './submit.ts';

test('a resumed submit that fails at its first read keeps its idempotency key', async () => {
  const bench = await openJobs();
  try {
    const userId = await bench.createUser(1_000);
    const submitter = { userId, idempotencyKey: 'once' };
    const method = bench.context.offers.methods.get('gleaner.mkta.v1.MktaService.SubmitVariantSold')!;
    const request = fromJson(method.method.input, variantSoldRequest(2));
    const without = async (call: 'completeSubmission' | 'getJob') => {
      const failing = async () => {
        throw new Fault('unavailable', 'The store does not answer.');
      };
      const context: JobContext = { ...bench.context, store: { ...bench.context.store, [call]: failing } };
      await expect(submit(context, method, request, submitter)).rejects.toThrow('does not answer');
      await bench.clock.pass(61_000);
    };
    // The job is written and its response is not; then a retry cannot tell whether the job exists.
    await without('completeSubmission');
    await without('getJob');
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(2), 'once');
    const { items } = await bench.context.store.listJobs({ userId }, { limit: 10 });
    expect(items.map(({ id }) => id)).toEqual([jobId]);
  } finally {
    await bench.close();
  }
});
