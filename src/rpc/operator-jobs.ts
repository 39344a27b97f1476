import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Fault } from '../base/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { approve, reject } from '../jobs/decide.ts';
import { waitingFor } from '../jobs/waiting.ts';
import type { Job, JobState } from '../store/documents.ts';
import { handle, pageSize } from './account.ts';
import type { Handler } from './core.ts';
import { jobShape } from './shapes.ts';

/** States behind a status that clients know. */
const statesOf: Record<string, readonly JobState[]> = {
  awaiting_approval: ['submitted', 'awaiting_approval', 'approving'],
  initializing: ['approved'],
  processing: ['approved', 'processing', 'settling', 'terminating'],
  completed: ['completed'],
  partial_complete: ['partial_complete'],
  failed: ['failed'],
  rejected: ['rejecting', 'rejected'],
  terminated: ['terminated'],
};

/** What operators see of jobs, and do with them. */
export function operatorJobHandlers(context: JobContext): [string, Handler][] {
  const { store } = context;
  const { method } = OperatorService;
  const shape = async (job: Job) => {
    const counts = await store.countJob(job.id);
    const { judgedBy } = context.offers.of(job).kind;
    return jobShape(job, counts, judgedBy, (await waitingFor(context, job, counts)) ?? '');
  };

  return [
    handle(method.listJobs, async (request) => {
      const states = request.status === '' ? undefined : statesOf[request.status];
      if (request.status !== '' && states === undefined) {
        const words = Object.keys(statesOf).join(', ');
        throw Fault.invalid(['body', 'status'], `'${request.status}' is not one of ${words}`, 'enum');
      }
      const filter = {
        ...(states ? { states } : {}),
        ...(request.userId === '' ? {} : { userId: request.userId }),
        ...(request.kind === '' ? {} : { kind: request.kind }),
      };
      const { items, next } = await store.listJobs(filter, {
        limit: request.pageSize || pageSize,
        after: request.pageToken || null,
      });
      return { jobs: await Promise.all(items.map(shape)), nextPageToken: next ?? '' };
    }),
    handle(method.getJob, async ({ jobId }) => {
      const job = await store.getJob(jobId);
      if (job === null) throw new Fault('not_found', `There is no job '${jobId}'.`);
      return { job: await shape(job) };
    }),
    handle(method.approveJob, async ({ jobId }, { principal }) => ({
      job: await shape(await approve(context, jobId, principal.userId)),
    })),
    handle(method.rejectJob, async ({ jobId, reason }, { principal }) => ({
      job: await shape(await reject(context, jobId, principal.userId, reason)),
    })),
  ];
}
