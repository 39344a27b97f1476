import { fromJson } from '@bufbuild/protobuf';
import { afterAll, describe, expect, test } from 'vitest';
import { shareEngine } from '../../../test/engines/share.ts';
import { readNatsCommands, startCommandLink } from '../../../test/support/faults/command-link.ts';
import { openJobFixture, variantSoldRequest } from '../../../test/support/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { submit } from '../../jobs/steps/submit.ts';
import { mkta } from '../../markets/mkta/index.ts';
import { endedStates } from '../../store/job-states.ts';
import { sweep } from '../../sweep/sweep.ts';
import { startWorker } from '../../worker/worker.ts';
import type { Queue } from '../queue.ts';
import { openJetStreamQueue } from './open.ts';

const server = await shareEngine('nats');
const ended: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ended) await end();
});

/** Resolves once the server responds. */
async function connected(queue: Queue): Promise<void> {
  const responds = await queue.ping().then(
    () => true,
    () => false,
  );
  if (responds) return;
  await systemClock.sleep(20);
  await connected(queue);
}

const credits = 2_000;
const request = variantSoldRequest(60, '30000000801');
/**
 * Number of messages that are lost, each in a job: published batches, pull requests,
 * acknowledgements, and checks.
 */
const messages = 6;

describe.skipIf('missing' in server)(
  `messages that are lost${'missing' in server ? ` (${server.missing})` : ''}`,
  () => {
    if ('missing' in server) return;

    test.each(['refused', 'lost'] as const)(
      'a job survives any message to NATS that is %s',
      async (fault) => {
        const url = new URL(server.address);
        const link = await startCommandLink(Number(url.port), readNatsCommands);
        url.port = String(link.port);
        const fixture = await openJobFixture({ approval: false });
        const timing = { requestMs: 500, heartbeatMs: 500, watchMs: 100, electionMs: 5_000 };
        const log = createLog('silent', 'test');
        const queue = openJetStreamQueue({ url: url.href, timing, log, owner: async () => 'one' });
        const context = { ...fixture.context, queue };
        const worker = await startWorker(context, [mkta]);
        ended.push(() => worker.stop(), queue.close, fixture.close, link.stop);
        const method = context.jobTypes.methods.get(
          'gleaner.mkta.v1.MktaService.SubmitVariantSold',
        )!;
        await connected(queue);

        /** Ends a job in spite of the fault, with time for the sweep, and returns it. */
        const end = async (userId: string) => {
          const submitter = { userId, mode: 'live', keyId: null, idempotencyKey: userId } as const;
          await submit(context, method, fromJson(method.method.input, request), submitter).catch(
            () => {},
          );
          for (;;) {
            const { items } = await context.store.jobs.list({ userId }, { limit: 2 });
            expect(items.length).toBeLessThan(2);
            if (items[0] !== undefined && endedStates.includes(items[0].state)) return items[0];
            await fixture.clock.advance(2_000);
            await sweep(context);
            await systemClock.sleep(10);
          }
        };
        for (let last = 1; last <= messages; last += 1) {
          const userId = await fixture.createUser(credits);
          link.failAt(last, fault);
          const job = await end(userId);
          // The consumers are checked all the time, also after the job.
          while (link.failedAt() === null) await systemClock.sleep(20);
          const where = `message ${last}: ${link.failedAt()}`;
          // One item does not exist.
          expect(job.counts?.units, where).toEqual({ total: 61, success: 60, failed: 1 });
          expect(await fixture.balance(userId), where).toBe(credits - job.cost + job.unitPrice);
          expect(job.file?.items, where).toBe(61);
        }
        expect(await fixture.problems()).toEqual([]);
      },
    );
  },
);
