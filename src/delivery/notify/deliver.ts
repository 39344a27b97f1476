import type { Destination } from '../../store/destinations.ts';
import type { Job } from '../../store/documents.ts';
import { targetOf } from '../destination/address.ts';
import { expandPath } from '../destination/path-template.ts';
import type { NotifyContext } from './context.ts';
import { type FileNotice, newDelivery } from './message.ts';

/**
 * Stores one delivery of an ended job's results per destination that the submission named, idempotent by job
 * and destination. Its file keeps the name that it gets here in every attempt. Jobs without results, and
 * deleted destinations, have none.
 */
export async function queueFiles(context: NotifyContext, job: Job, success: number): Promise<void> {
  const { store, clock, newId } = context;
  if (success === 0) return;
  for (const id of destinationsOf(job)) {
    const destination = await store.destinations.get(id);
    if (destination === null || destination.userId !== job.userId) continue;
    const notice = fileNotice(context, job, destination);
    const target = targetOf(destination, notice.data.path);
    const address = { userId: job.userId, channel: 'file' as const, target, destinationId: id };
    const message = { type: notice.type, about: job.id, jobId: job.id, body: JSON.stringify(notice) };
    await store.deliveries.insert(newDelivery(newId(), address, message, clock.now()));
  }
}

/** Returns the ids of the destinations of a job. */
function destinationsOf({ options }: Pick<Job, 'options'>): string[] {
  return (options.deliverTo ?? '').split(',').filter((id) => id !== '');
}

function fileNotice({ openResults }: NotifyContext, job: Job, destination: Destination): FileNotice {
  const { market, kind, region, state, id: jobId } = job;
  const { name, format } = destination;
  const endedAt = job.finishedAt ?? job.stateSince;
  const { extension: ext } = openResults(job, format);
  const values = { market, kind, region, status: state, jobId, endedAt, ext };
  const path = expandPath(destination.path, values);
  return {
    type: 'job.results',
    timestamp: new Date(endedAt).toISOString(),
    data: { job_id: jobId, destination: name, format, path },
  };
}
