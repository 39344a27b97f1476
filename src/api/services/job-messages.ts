import { getOption, hasOption, type MessageInitShape } from '@bufbuild/protobuf';
import { JobSchema, ResultFileSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Step } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { http } from '../../../gen/google/api/annotations_pb.ts';
import { splitRequest } from '../../contract/rest-form.ts';
import type { JobContext } from '../../jobs/context.ts';
import { chargedCredits } from '../../jobs/credits.ts';
import type { JobTypes } from '../../jobs/job-types.ts';
import { waitingFor } from '../../jobs/queries/progress.ts';
import { fileName, type ResultFile } from '../../jobs/queries/results.ts';
import { filesExpireAt } from '../../jobs/steps/delete.ts';
import { emptyCounts } from '../../store/batch-store.ts';
import type { Counts, Job, User } from '../../store/documents.ts';
import { isRejected, jobStatus } from '../../store/job-states.ts';
import { toMessage } from './to-message.ts';

/** The message Job as a plain object. */
export type JobMessage = MessageInitShape<typeof JobSchema>;

/**
 * Conversion of jobs to the message Job. The number of store calls does not grow with the number of
 * jobs.
 */
export interface JobMessages {
  /** Returns the messages for the owner of the jobs, in the same order. */
  forOwner(jobs: readonly Job[]): Promise<JobMessage[]>;
  /** Returns the messages for operators, with the owner's name and credits. */
  forOperator(jobs: readonly Job[]): Promise<JobMessage[]>;
}

export function createJobMessages(context: JobContext): JobMessages {
  const { store } = context;
  const pathOf = retrievePaths(context.jobTypes);
  const forOwner = async (jobs: readonly Job[]) => {
    const unknown = jobs.filter(({ counts }) => counts === null).map(({ id }) => id);
    const counted =
      unknown.length > 0 ? await store.batches.countJobs(unknown) : new Map<string, Counts>();
    return Promise.all(
      jobs.map(async (job) => {
        const counts = job.counts ?? counted.get(job.id) ?? emptyCounts();
        const { charge } = context.jobTypes.of(job).kind;
        return toJobMessage(job, counts, {
          waitingFor: await waitingFor(context, job, counts),
          retrievePath: pathOf(job),
          charged: chargedCredits(job, charge),
          filesExpireAt: filesExpireAt(context.settings.retention, job),
        });
      }),
    );
  };
  return {
    forOwner,
    async forOperator(jobs) {
      const [shapes, users] = await Promise.all([
        forOwner(jobs),
        jobs.length > 0
          ? store.users.find({ id: { in: [...new Set(jobs.flatMap(peopleOf))] } })
          : [],
      ]);
      const people = new Map(users.map((user) => [user.id, user]));
      return shapes.map((shape, index) => ({
        ...shape,
        ...ownerOf(people.get(shape.userId!)),
        decidedBy: people.get(jobs[index]!.decidedBy ?? '')?.name ?? '',
      }));
    },
  };
}

/** Returns the ids of the owner and, if there was one, of the operator who decided. */
function peopleOf({ userId, decidedBy }: Job) {
  if (decidedBy === null) return [userId];
  return [userId, decidedBy];
}

function ownerOf(user: User | undefined) {
  if (user === undefined) return {};
  return { userName: user.name, userBalance: BigInt(user.balance) };
}

const messageOf = toMessage(JobSchema, 'decidedBy', 'options');

/** Returns the message of a job. `extraFields`: those that neither the job nor its counts have. */
function toJobMessage(
  job: Job,
  { units, batches, pages }: Counts,
  extraFields: object,
): JobMessage {
  const message = messageOf({
    ...job,
    jobId: job.id,
    taskId: job.number,
    scheduleId: job.schedule?.id,
    status: jobStatus(job),
    total: job.totalUnits,
    success: units.success,
    failed: isRejected(job) ? job.totalUnits : units.failed,
    notRun: isRejected(job) ? job.totalUnits : units.notRun,
    reused: units.reused,
    batches: job.totalBatches,
    batchesDone: batches.success + batches.failed,
    keptPages: pages && { ...pages, deleteAt: job.filesDeletedAt === null ? job.pagesUntil : null },
    ended: job.finishedAt !== null,
    ...extraFields,
  });
  if (Object.keys(job.options).length === 0) return message;
  return { ...message, options: job.options };
}

/**
 * Returns a function for the REST path of a job: the path of its kind's read step whose only
 * parameters are the job and its site.
 */
export function retrievePaths(jobTypes: JobTypes): (job: Job) => string {
  const templates = new Map<string, string>();
  for (const { method, jobType, step } of jobTypes.methods.values()) {
    if (step !== Step.READ || jobType === null || !hasOption(method, http)) continue;
    const { pattern } = getOption(method, http);
    const template = pattern.case === 'get' ? pattern.value : '';
    const key = `${jobType.market.name}/${jobType.kind.name}`;
    if (/^(?:[^{]|\{site\})*\{(?:job_id|task_id)\}$/.test(template) && !templates.has(key))
      templates.set(key, template);
  }
  return ({ market, kind, id, number, region }) =>
    splitRequest(templates.get(`${market}/${kind}`) ?? '', {
      job_id: id,
      task_id: number,
      site: region,
    }).path;
}

const fileOf = toMessage(ResultFileSchema);

/** Formats a result file for a response. */
export function toFileMessage({
  file,
  link,
  recordsLink,
  ...position
}: ResultFile): MessageInitShape<typeof ResultFileSchema> {
  return fileOf({
    ...position,
    ...file,
    name: fileName(file),
    downloadUrl: link,
    recordsUrl: recordsLink,
  });
}
