import type { ListJobsRequest } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { type Principal, testAccountId } from '../../access/principal.ts';
import { Fault } from '../../contract/fault.ts';
import { jobStatuses } from '../../contract/job-status.ts';
import type { JobContext } from '../../jobs/context.ts';
import { noJob } from '../../jobs/queries/read.ts';
import type { Search, Where } from '../../store/collection.ts';
import type { Page } from '../../store/cursor.ts';
import type { Job } from '../../store/documents.ts';
import { isAccepted, statesOf } from '../../store/job-states.ts';
import { findJobByNumber } from '../../store/jobs.ts';
import type { Store } from '../../store/store.ts';
import { listUsers } from '../../store/users.ts';
import { pageOf, shortIdCondition } from './handlers.ts';

/** Maximum owners that a search may match. */
const maxOwners = 1_000;

const taskNumber = /^[0-9]{1,15}$/;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Maximum jobs that a short id finds. */
const maxShortMatches = 10;

/** Returns any user's job. Throws `not_found` for an unknown id. */
export async function anyJob(
  store: Pick<Store, 'jobs'>,
  { jobId }: { jobId: string },
): Promise<Job> {
  const job = await store.jobs.get(jobId.toLowerCase());
  if (job === null) throw noJob(jobId);
  return job;
}

/** Returns the job with this id or task number, or null if there is none. */
export async function findJob(store: Pick<Store, 'jobs'>, text: string): Promise<Job | null> {
  if (uuid.test(text)) return store.jobs.get(text.toLowerCase());
  return taskNumber.test(text) ? findJobByNumber(store, Number(text)) : null;
}

/** Returns the jobs with this id, task number, or first part of an id. */
async function findJobs(store: Pick<Store, 'jobs'>, text: string): Promise<Job[]> {
  const job = await findJob(store, text);
  if (job !== null) return [job];
  const id = shortIdCondition(text.toLowerCase());
  if (id === null) return [];
  return store.jobs.find({ id }, { order: ['id'], limit: maxShortMatches });
}

/**
 * Returns the ids of users whose name or email address contains a text. Throws `invalid` if more
 * than 1,000 match.
 */
async function findOwners(store: Pick<Store, 'users'>, text: string): Promise<string[]> {
  const { items, next } = await listUsers(store, 'user', { limit: maxOwners }, text.trim());
  if (next !== null) {
    const msg = `'${text}' matches more than ${maxOwners} users: enter more of the name`;
    throw Fault.invalid(['body', 'search'], msg, 'value_error');
  }
  return items.map(({ id }) => id);
}

/** Filters that only operators may use. */
const operatorFields = ['userId', 'mode'] as const;

/**
 * Returns a page of jobs, newest first: a user's jobs, or for operators the jobs of every user,
 * including jobs whose submission is not finished. Throws `forbidden` for a user who filters by
 * owner.
 */
export async function listJobs(
  context: JobContext,
  request: ListJobsRequest,
  { role, userId }: Pick<Principal, 'role' | 'userId'>,
): Promise<Page<Job>> {
  const { store } = context;
  if (role === 'user') {
    const operatorField = operatorFields.find(
      (field) => request[field] !== '' && request[field] !== userId,
    );
    if (operatorField !== undefined) {
      const parameter = operatorField === 'userId' ? 'user_id' : operatorField;
      throw new Fault('forbidden', `Only operators may select jobs by ${parameter}.`);
    }
  }
  const search = request.search.trim();
  const found = search === '' ? [] : await findJobs(store, search);
  const own = found.filter(
    (job) => role === 'operator' || (job.userId === userId && isAccepted(job)),
  );
  if (own.length > 0) return { items: own.filter((job) => isListed(job, request)), next: null };
  if (role === 'operator')
    return page(context, request, {
      where: await ownersOf(context, request),
      unfinished: true,
      named: undefined,
    });
  const named = search === '' ? undefined : { fields: ['options.name'], text: search };
  return page(context, request, { where: { userId }, unfinished: false, named });
}

/** Jobs that a caller lists. */
interface JobSelection {
  where: Where<Job>;
  /** True to include jobs whose submission is not finished. */
  unfinished: boolean;
  /** Text in the name of the jobs. */
  named: Search | undefined;
}

function page(
  { store }: JobContext,
  request: ListJobsRequest,
  { where: selection, unfinished, named }: JobSelection,
): Promise<Page<Job>> {
  const { status, kind, market } = request;
  const statuses = status === '' ? jobStatuses : [status];
  const states = statuses.flatMap(statesOf).filter((state) => unfinished || isAccepted({ state }));
  const isAnyState = status === '' && unfinished;
  const where: Where<Job> = {
    ...selection,
    state: isAnyState ? undefined : { in: states },
    kind: kind === '' ? undefined : kind,
    market: market === '' ? undefined : market,
  };
  return store.jobs.list(where, pageOf(request), named);
}

const isListed = (job: Job, { status, kind, market, userId }: ListJobsRequest): boolean =>
  (status === '' || statesOf(status).includes(job.state)) &&
  (kind === '' || kind === job.kind) &&
  (market === '' || market === job.market) &&
  (userId === '' || userId === job.userId);

/** Returns the owners of the requested jobs, or their mode if the request names no owner. */
async function ownersOf(
  { store }: JobContext,
  { userId, search, mode }: Pick<ListJobsRequest, 'userId' | 'search' | 'mode'>,
): Promise<Where<Job>> {
  const isTest = mode === 'test';
  const found = search === '' ? undefined : await findOwners(store, search);
  const owners = found && { in: isTest ? found.map(testAccountId) : found };
  if (userId === '')
    return owners === undefined ? { mode: isTest ? 'test' : 'live' } : { userId: owners };
  const isTestAccount = (await store.users.get(userId))?.testOf != null;
  return { userId: { ...owners, is: isTest && !isTestAccount ? testAccountId(userId) : userId } };
}
