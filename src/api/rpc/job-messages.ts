import { getOption, hasOption, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JobSchema, ResultFileSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Step } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { http } from '../../../gen/google/api/annotations_pb.ts';
import { splitRequest } from '../../contract/rest-form.ts';
import type { JobContext } from '../../jobs/context.ts';
import { chargedCredits } from '../../jobs/credits.ts';
import type { JobTypes } from '../../jobs/job-types.ts';
import { waitingFor } from '../../jobs/queries/progress.ts';
import { fileName, type ResultFile } from '../../jobs/queries/results.ts';
import { filesExpireAt } from '../../jobs/steps/delete.ts';
import { isRejected } from '../../kinds/states.ts';
import { emptyCounts } from '../../store/counts.ts';
import type { Counts, Job, JobHold, User } from '../../store/documents.ts';
import { jobStatus } from '../../store/job-states.ts';

/** The message Job as a plain object. */
export type JobMessage = MessageInitShape<typeof JobSchema>;

/** Conversion of jobs to the message Job, with as few store calls for several jobs as for one. */
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
    const counted = unknown.length > 0 ? await store.batches.countJobs(unknown) : new Map<string, Counts>();
    return Promise.all(
      jobs.map(async (job) => {
        const counts = job.counts ?? counted.get(job.id) ?? emptyCounts();
        const { charge } = context.jobTypes.of(job).kind;
        const expireAt = filesExpireAt(context.settings.retention, job);
        return {
          ...toJobMessage(job, counts, (await waitingFor(context, job, counts)) ?? '', pathOf(job)),
          charged: chargedCredits(job, charge),
          ...(expireAt === null ? {} : { filesExpireAt: timestampFromMs(expireAt) }),
        };
      }),
    );
  };
  return {
    forOwner,
    async forOperator(jobs) {
      const [shapes, users] = await Promise.all([
        forOwner(jobs),
        jobs.length > 0 ? store.users.find({ id: { in: [...new Set(jobs.flatMap(peopleOf))] } }) : [],
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
const peopleOf = ({ userId, decidedBy }: Job) => (decidedBy === null ? [userId] : [userId, decidedBy]);

const ownerOf = (user: User | undefined) =>
  user === undefined ? {} : { userName: user.name, userBalance: BigInt(user.balance) };

function toJobMessage(job: Job, counts: Counts, waitingFor: string, retrievePath: string): JobMessage {
  const { units, batches } = counts;
  const { userId, kind, market, region, cost, refunded, reason } = job;
  const { number, createdAt, decideBy, startedAt, finishedAt, filesDeletedAt } = job;
  return {
    jobId: job.id,
    userId,
    kind,
    market,
    mode: job.mode,
    region,
    cost,
    refunded,
    reason,
    waitingFor,
    retrievePath,
    status: jobStatus(job),
    total: job.totalUnits,
    success: units.success,
    failed: isRejected(job) ? job.totalUnits : units.failed,
    notRun: isRejected(job) ? job.totalUnits : (units.notRun ?? 0),
    batches: job.totalBatches,
    batchesDone: batches.success + batches.failed,
    unitPrice: job.unitPrice,
    retryOf: job.retryOf ?? '',
    rereadOf: job.rereadOf ?? '',
    scheduleId: job.schedule?.id ?? '',
    ended: finishedAt !== null,
    createdAt: timestampFromMs(createdAt),
    ...(number === null ? {} : { taskId: BigInt(number) }),
    ...(decideBy === null ? {} : { decideBy: timestampFromMs(decideBy) }),
    ...(startedAt === null ? {} : { startedAt: timestampFromMs(startedAt) }),
    ...(finishedAt === null ? {} : { finishedAt: timestampFromMs(finishedAt) }),
    ...(Object.keys(job.options).length === 0 ? {} : { options: job.options }),
    ...(job.reusedUnitPrice === null ? {} : { reusedUnitPrice: job.reusedUnitPrice }),
    ...(units.reused === undefined ? {} : { reused: units.reused }),
    ...(filesDeletedAt === null ? {} : { filesDeletedAt: timestampFromMs(filesDeletedAt) }),
    ...(job.hold === null ? {} : { hold: toHoldMessage(job.hold) }),
    ...(counts.pages === undefined ? {} : { keptPages: toPagesMessage(job, counts.pages) }),
  };
}

function toPagesMessage(
  { pagesUntil, filesDeletedAt }: Job,
  { kept, missed, bytes }: NonNullable<Counts['pages']>,
): NonNullable<JobMessage['keptPages']> {
  const isDeleted = pagesUntil === null || filesDeletedAt !== null;
  const until = isDeleted ? {} : { deleteAt: timestampFromMs(pagesUntil) };
  return { kept, missed, bytes: BigInt(bytes), ...until };
}

function toHoldMessage({ state, reasons, heldAt, decidedAt }: JobHold): NonNullable<JobMessage['hold']> {
  return {
    state,
    reasons,
    heldAt: timestampFromMs(heldAt),
    ...(decidedAt === null ? {} : { decidedAt: timestampFromMs(decidedAt) }),
  };
}

/**
 * Returns a function for the REST path of a job: the path of its kind's read step whose only parameters are
 * the job and its site.
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
    splitRequest(templates.get(`${market}/${kind}`) ?? '', { job_id: id, task_id: number, site: region })
      .path;
}

/** Formats a result file for a response. */
export function toFileMessage({
  file,
  link,
  recordsLink,
  ...place
}: ResultFile): MessageInitShape<typeof ResultFileSchema> {
  return {
    ...place,
    name: fileName(file),
    contentType: file.contentType,
    items: file.items,
    bytes: BigInt(file.bytes),
    sha256: file.sha256,
    downloadUrl: link,
    recordsUrl: recordsLink,
  };
}
