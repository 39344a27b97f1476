import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { openStacks, type Stack } from '../support/engines/engines.ts';
import { createApi, type TestUser, variantSold, watchJob } from '../support/service/api.ts';
import { createDeployment } from '../support/service/deployment.ts';
import { holdCases } from './hold.ts';
import { operationsCases } from './operations.ts';
import type { Place } from './place.ts';
import { rpcCases } from './rpc.ts';
import { approvalOffCases, closedHoursCases, variantSoldCases } from './variant-sold.ts';

/** Returns a value of GLEANER_WORKING_HOURS that excludes the current time. */
function anotherHour(now: Date): string {
  const hour = (by: number) => String((now.getUTCHours() + by) % 24).padStart(2, '0');
  return `${hour(6)}:00-${hour(7)}:00+00:00`;
}

/** Defines all end-to-end cases on a stack of real processes. */
export async function endToEnd(stack: Stack): Promise<void> {
  const [opened] = await openStacks([stack]);
  const { engines, title } = opened!;
  describe.skipIf(engines === null)(`the ${title} stack`, () => {
    let origins: RunningOrigins;
    let place: Place;
    const at = () => place;
    beforeAll(async () => {
      origins = await startOrigins({ origins: [mkta], latencyMs: 5 });
      const deployment = await createDeployment({
        inProcess: false,
        stack,
        engines: engines!,
        origins,
      });
      place = { deployment, api: createApi(deployment) };
      await deployment.start();
    });
    afterAll(async () => {
      const codes = await place?.deployment.stop();
      await engines?.stop();
      await origins?.stop();
      expect(codes?.every((code) => code === 0)).toBe(true);
    });

    describe('variant sold', () => variantSoldCases(at));
    describe('RPC', () => rpcCases(at));

    let waiting: { user: TestUser; jobId: string };
    describe('outside working hours', () => {
      beforeAll(() => place.deployment.restart({ GLEANER_WORKING_HOURS: anotherHour(new Date()) }));
      closedHoursCases(at, (job) => {
        waiting = job;
      });
    });
    describe('with approval off, and no working hours', () => {
      beforeAll(() =>
        place.deployment.restart({ GLEANER_APPROVAL: 'off', GLEANER_WORKING_HOURS: 'off' }),
      );
      test('a job waiting for working hours continues when they begin', async () => {
        const { download } = await watchJob(place.api, waiting.user, waiting.jobId, 45_000);
        expect(download).toMatchObject({ status: 'completed', success_count: 60 });
        const { body } = await place.api.get(waiting.user, variantSold.retrieve(waiting.jobId));
        expect(body.progress).toBe('2/2 batches complete');
      });
      approvalOffCases(at);
      holdCases(at);
      operationsCases(at);
    });

    test('balances, ledger, and jobs agree at the end', async () => {
      expect(await place.deployment.audit()).toMatchObject({ code: 0, problems: [] });
    });
  });
}
