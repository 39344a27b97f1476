import { Fault } from '../base/fault.ts';
import { nameId } from '../base/id.ts';
import { isChargeVoid } from '../credits/job-credits.ts';
import { inOrder } from '../kinds/items.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Job, Unit } from '../store/documents.ts';
import type { JobStore } from '../store/store.ts';
import type { JobContext } from './context.ts';
import type { JobCreation } from './idempotency.ts';
import { mayHoldFailed, readPlaced, unitsOf } from './placed.ts';
import { placeJob } from './submit.ts';

/**
 * Id of the next job that tries a job's failed units again. Calls that come at once get the same, so that one
 * job comes of them.
 */
export async function nextRetryId({ store }: JobContext, { id }: Job): Promise<string> {
  const last = await lastRetry(store, id);
  let next = nameId(`retry of ${id} after ${last?.id ?? 'none'}`);
  // The id of a discarded job cannot be used again.
  while (await isChargeVoid(store, next)) next = nameId(`retry of ${id} after ${next}`);
  return next;
}

/** The newest retry of a job, apart from discarded ones. */
async function lastRetry(store: JobStore, retryOf: string): Promise<Job | undefined> {
  const { items } = await store.listJobs({ retryOf }, { limit: 10 });
  return items.find(({ state }) => state !== 'discarding');
}

/**
 * Submits the failed units of an ended job again, in their order and as they were submitted: a job of the same
 * owner, kind, marketplace and parameters at today's unit price, which waits for approval where its kind does
 * unless an operator, `approvedBy`, asks for it. Faults: `conflict` for a job that has not ended, that nothing
 * of failed, or that another retry of goes on; `insufficient_credits`; nothing is charged then.
 */
export async function retry(
  context: JobContext,
  source: Job,
  creation: JobCreation,
  approvedBy: string | null,
): Promise<Job> {
  const { store, offers } = context;
  const { id, userId, state, finishedAt } = source;
  if (finishedAt === null)
    throw new Fault('conflict', `The job has not ended: it is ${state}. Only ended jobs can be tried again.`);
  const { units } = source.counts ?? (await store.countJob(id));
  if (units.failed === 0) throw new Fault('conflict', 'No unit of the job has failed.');

  const last = await lastRetry(store, id);
  const other = last?.finishedAt === null && last.id !== creation.jobId ? last : undefined;
  // An interrupted one is resumed.
  if (other !== undefined && other.state !== 'submitted')
    throw new Fault('conflict', `The job ${other.id} tries its failed units again and has not ended.`);
  const job = await placeJob(
    context,
    offers.of(source),
    other ? { ...creation, jobId: other.id } : creation,
    {
      userId,
      plan: () => planAgain(context, source),
      retryOf: id,
      approvedBy,
      // Repeating the call gives the same job id, with or without an idempotency key.
      resumable: true,
    },
  );
  // What was handed out meanwhile is seen, too.
  return (await store.getJob(job.id)) ?? job;
}

async function planAgain({ store }: JobContext, source: Job): Promise<Plan> {
  const failed: { unit: Unit; region: string }[] = [];
  for await (const placed of readPlaced(store, source.id, mayHoldFailed(source))) {
    for (const { unit, region, status } of unitsOf(source, placed))
      if (status === 'FAILED') failed.push({ unit, region });
  }
  return { groups: inOrder(failed), region: source.region, params: source.params };
}
