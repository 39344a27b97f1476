import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findEngine } from '../../../test/engines/missing.ts';
import { findNats, type RunningNats, startNats } from '../../../test/engines/nats.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { until } from '../../../test/support/time/until.ts';
import { createLog } from '../../base/log.ts';
import { controlledHandler } from '../../queue/conformance/controlled-handler.ts';
import { openJetStreamQueue } from '../../queue/jetstream/open.ts';
import type { Queue } from '../../queue/queue.ts';
import { aProcess } from '../../store/conformance/samples.ts';
import { sweep } from '../../sweep/sweep.ts';

const absent = await findEngine(findNats()).then((found) =>
  'missing' in found ? found.missing : null,
);
const timing = { requestMs: 500, heartbeatMs: 500, watchMs: 100, electionMs: 300 };

describe.skipIf(absent)(
  `a process without a connection to NATS${absent ? ` (${absent})` : ''}`,
  () => {
    let directory: string;
    let server: RunningNats;
    /** Cuts every connection. */
    let cutting: Server;
    let fixture: JobFixture;
    let queues: Queue[];
    const openQueue = (url: string): Queue => {
      const log = createLog('silent', 'test');
      const queue = openJetStreamQueue({ url, timing, log, owner: async () => 'one' });
      queues.push(queue);
      return queue;
    };
    beforeEach(async () => {
      directory = mkdtempSync(join(tmpdir(), 'gleaner-cut-off-'));
      queues = [];
      cutting = createServer((socket) => socket.destroy());
      await once(cutting.listen(0, '127.0.0.1'), 'listening');
      const started = await startNats({ directory });
      if ('missing' in started) throw new Error(started.missing);
      server = started;
      fixture = await openJobFixture({ approval: false });
    });
    afterEach(async () => {
      for (const queue of queues) await queue.close();
      await fixture.close();
      await server.kill();
      cutting.close();
      rmSync(directory, { recursive: true, force: true });
    });

    test('accepts a job, whose batches another process publishes', async () => {
      const { context, clock } = fixture;
      const { port } = cutting.address() as AddressInfo;
      const cutOff = { ...context, queue: openQueue(`nats://127.0.0.1:${port}`) };
      fixture.context.queue = cutOff.queue;
      await context.store.processes.upsert([aProcess({ seenAt: clock.now(), paused: '' })]);
      const user = await fixture.createUser(1_000);
      const { jobId } = await fixture.submit(user, 'SubmitVariantSold', variantSoldRequest(3));
      expect(await context.store.jobs.get(jobId)).toMatchObject({
        state: 'processing',
        refunded: 0,
      });

      const other = { ...context, queue: openQueue(server.url) };
      const handler = controlledHandler();
      await other.queue.consume('bulk', 'mkta', 2, handler.handle);
      let run: Awaited<ReturnType<typeof handler.next>> | undefined;
      void handler.next().then((next) => {
        run = next;
      });
      // A sweep whose message takes longer than the queue waits leaves the batch to the next one.
      const arrived = async () => {
        await clock.advance(60_000);
        await sweep(other);
        return run;
      };
      run = await until('the batch arrives', arrived, { withinMs: 30_000 });
      expect(run.message).toMatchObject({ jobId });
      run.resolve();
    });
  },
);
