import { unusedDisk } from '../base/disk-space.ts';
import { newId } from '../base/id.ts';
import type { JobContext } from '../jobs/context.ts';
import { createJobChanges, observeStore } from '../jobs/job-events.ts';
import { createSharedCounts } from '../jobs/shared-counts.ts';
import { listedFields } from '../markets/lookup.ts';
import { createDriftWatcher } from '../quality/drift-watcher.ts';
import { noMetrics } from '../telemetry/metrics.ts';

/** Parts of a context that each program has to choose. */
type RequiredPart =
  | 'store'
  | 'queue'
  | 'blobs'
  | 'clock'
  | 'log'
  | 'jobTypes'
  | 'settings'
  | 'links'
  | 'pages'
  | 'destinations';

/** Parts of a context. Those that are missing follow from the others. */
export type ContextParts = Pick<JobContext, RequiredPart> & Partial<JobContext>;

/**
 * Creates the context of jobs from its parts. By default it measures nothing and has no disk to
 * watch. Its store notifies waiters of changes of jobs.
 */
export function createContext(parts: ContextParts): JobContext {
  const { clock, log } = parts;
  const changes = parts.changes ?? createJobChanges(clock);
  const metrics = parts.metrics ?? noMetrics;
  const store = observeStore(parts.store, changes, metrics);
  return {
    disk: unusedDisk,
    newId,
    random: Math.random,
    drift: createDriftWatcher({
      store,
      clock,
      log,
      listedFields,
    }),
    sharedCounts: createSharedCounts(store, clock),
    ...parts,
    changes,
    metrics,
    store,
  };
}
