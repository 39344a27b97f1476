import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { type Core, createCore } from '../../src/api/services/core.ts';
import { retrievePaths } from '../../src/api/services/job-messages.ts';
import { createContext } from '../../src/app/context.ts';
import { createLog } from '../../src/base/log.ts';
import type { NoticeSettings } from '../../src/base/notification-settings.ts';
import { createDestinations } from '../../src/destinations/destinations.ts';
import { createConcurrencyLimit } from '../../src/fetch/concurrency-limit.ts';
import { trackForever } from '../../src/history/tracker.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import { resolveJobTypes } from '../../src/jobs/job-types.ts';
import { openJobFile } from '../../src/jobs/queries/files.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { kinds } from '../../src/kinds/list.ts';
import { createSecretBox } from '../../src/links/secret-box.ts';
import { createNotifier } from '../../src/notify/notifier.ts';
import { rejectInvalidTransitions } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/store.ts';
import { shareOf } from '../../src/sweep/share.ts';
import { sweepForever } from '../../src/sweep/sweep.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { jobSettings } from '../support/jobs/job-settings.ts';
import type { Broker } from './broker.ts';
import {
  createPages,
  market,
  type ServedPages,
  type SharedFiles,
  type SimulatedReceiver,
} from './outside.ts';
import { type Process, startProcess } from './process.ts';
import type { Witness } from './witness.ts';
import type { World } from './world.ts';

/** Services called by the simulated clients. */
const services = [MktaService, JobService, OperatorService];

/** Limits batches to three units, so that small jobs have several. */
const small = (kind: Kind): Kind => ({ ...kind, batchSize: Math.min(kind.batchSize, 3) });

/** Job types of the simulated marketplace. */
export const jobTypes = resolveJobTypes(services, kinds.map(small), [market]);

/** Maximum concurrent batches of a job: fewer than some jobs have. */
const jobWindow = 4;
const maxSkewMs = 20_000;
/**
 * As in the service: the timeout of the first reading of the store's time, and the interval of
 * later ones.
 */
const firstReadingMs = 3_000;
const followMs = 5_000;

/** Notifications go to users' webhooks only. */
const notices: NoticeSettings = { operatorWebhook: null, email: null, privateWebhooks: true };

const log = createLog('silent', 'simulation');

/** State shared by all processes of a run. */
export interface Shared {
  world: World;
  store: Store;
  broker: Broker;
  files: SharedFiles;
  receiver: SimulatedReceiver;
  witness: Witness;
  served: ServedPages;
}

/** A simulated api process. */
export interface ApiProcess {
  process: Process;
  core: Core;
}

/** The processes of a run. A process that dies is restarted after a while. */
export interface Actors {
  /** Returns the api processes that are alive. */
  apis(): ApiProcess[];
  /** Stops a worker gracefully, so that it returns its work. Another worker replaces it. */
  stopWorker(): void;
}

/** Creates the job context of a process. */
function contextOf(shared: Shared, process: Process): JobContext {
  const { world, broker, files, witness } = shared;
  const { clock } = process;
  return createContext({
    store: rejectInvalidTransitions(process.through('store', shared.store, witness.observe)),
    queue: broker.of(process),
    blobs: files.of(process),
    clock,
    log,
    newId: world.newId,
    random: world.random.next,
    jobTypes,
    settings: { ...jobSettings, jobWindow, notices },
    links: {
      records: (_job, { path }) => path,
      image: () => null,
      file: async (_job, { path }) => path,
      itemToken: (_jobId, batchId, index) => `${batchId}.${index}`,
      readItemToken: (_jobId, token) => {
        const [batchId, index] = token.split('.');
        return { batchId: batchId!, index: Number(index) };
      },
    },
    pages: createPages(world, shared.served, process),
    destinations: createDestinations({
      box: createSecretBox(['a secret of the simulation']),
      allowPrivate: false,
      now: () => clock.now(),
    }),
  });
}

/** Synchronizes with the store's clock, as processes of the distributed stack do. */
async function followStore({ clock }: Process): Promise<void> {
  await Promise.race([clock.synchronize().catch(() => {}), clock.sleep(firstReadingMs)]);
  void clock.follow(followMs, new AbortController().signal);
}

/** Starts two api processes, three workers, two sweeps, two trackers and a notifier. */
export function startActors(shared: Shared): Actors {
  const { world } = shared;
  const { scheduler, random } = world;
  const apis = new Map<string, ApiProcess>();
  const stops = new Map<string, () => Promise<void>>();

  /** Starts a process with this name and restarts it whenever it dies. */
  const keep = (name: string, begin: (context: JobContext, process: Process) => void) => {
    const start = () => {
      const process = startProcess(world, name, random.integer(-maxSkewMs, maxSkewMs));
      process.onDeath(() =>
        scheduler.after(random.integer(500, 20_000), { owner: null, run: start }),
      );
      void followStore(process).then(() => begin(contextOf(shared, process), process));
    };
    scheduler.after(random.integer(0, 3_000), { owner: null, run: start });
  };

  for (const name of ['api-1', 'api-2']) {
    keep(name, (context, process) => {
      apis.set(name, { process, core: createCore(context, services) });
    });
  }
  for (const name of ['worker-1', 'worker-2', 'worker-3']) {
    keep(name, (context, process) => {
      const starting = startWorker(context, [market]);
      stops.set(name, async () => {
        stops.delete(name);
        world.trace(`${name} stops`);
        await (await starting).stop();
        process.kill();
      });
      process.onDeath(() => stops.delete(name));
    });
  }
  for (const [index, name] of ['sweep-1', 'sweep-2'].entries()) {
    const never = new AbortController().signal;
    const share = async () => shareOf(index, 2);
    keep(name, (context) => void sweepForever(context, 7_000 + 4_000 * index, never, share));
  }
  for (const [index, name] of ['tracker-1', 'tracker-2'].entries()) {
    const never = new AbortController().signal;
    keep(name, (context) => void trackForever(context, 3_000 + 1_000 * index, never));
  }
  keep('notifier-1', (context, process) => {
    const notifier = createNotifier({
      ...context,
      publicUrl: () => 'https://gleaner.test',
      retrievePath: retrievePaths(jobTypes),
      poster: shared.receiver.of(process),
      mailer: null,
      openResults: (job, format) => openJobFile(context, job, format),
      uploads: createConcurrencyLimit(1),
    });
    void notifier.run(new AbortController().signal);
  });

  return {
    apis: () => [...apis.values()].filter(({ process }) => process.alive),
    stopWorker: () => {
      const [name] = [...stops.keys()];
      if (name !== undefined) void stops.get(name)!();
    },
  };
}
