import { Fault } from '../contract/fault.ts';
import { jobStatuses } from '../contract/job-status.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import type { Offers } from '../jobs/offers.ts';
import { kinds } from '../kinds/list.ts';
import { isAccepted } from '../kinds/states.ts';
import type { Page } from '../store/cursor.ts';
import type { Job, JobState } from '../store/documents.ts';
import type { JobFilter } from '../store/store.ts';
import { defaultPageSize } from './handlers.ts';

/** Dependencies of this module. */
export type JobListContext = Pick<JobContext, 'offers'> & StoreUse<'listJobs'>;

/** States of the store behind each state that clients see: src/contract/job-status.ts. */
const statesOf: Readonly<Record<string, readonly JobState[]>> = {
  awaiting_approval: ['submitted', 'discarding', 'awaiting_approval', 'approving'],
  initializing: ['approved'],
  processing: ['approved', 'processing', 'settling', 'terminating'],
  completed: ['completed'],
  partial_complete: ['partial_complete'],
  failed: ['failed'],
  rejected: ['rejecting', 'rejected'],
  terminated: ['terminated'],
};

/** What both services' requests for a list of jobs have. */
export interface ListRequest {
  status: string;
  kind: string;
  market: string;
  pageSize: number;
  pageToken: string;
}

/** Who asks: whose jobs are listed. */
export interface Asker {
  owners: Pick<JobFilter, 'userId' | 'userIds'>;
  /** Whether jobs are listed whose submit is not finished. */
  unfinished: boolean;
}

/**
 * A page of the jobs that a request asks for, newest first. Fault `invalid` for a status, kind or marketplace
 * that there is not.
 */
export async function listJobs(
  { store, offers }: JobListContext,
  request: ListRequest,
  { owners, unfinished }: Asker,
): Promise<Page<Job>> {
  checkWords(offers, request);
  const { status, kind, market } = request;
  const states = (status === '' ? Object.values(statesOf).flat() : statesOf[status]!).filter(
    (state) => unfinished || isAccepted({ state }),
  );
  const filter: JobFilter = {
    ...owners,
    ...(status === '' && unfinished ? {} : { states }),
    ...(kind === '' ? {} : { kind }),
    ...(market === '' ? {} : { market }),
  };
  return store.listJobs(filter, {
    limit: request.pageSize || defaultPageSize,
    after: request.pageToken || null,
  });
}

/** Whether a list that a request asks for would hold a job. Faults as listJobs. */
export function isListed(
  { offers }: JobListContext,
  job: Job,
  request: ListRequest & { userId: string },
): boolean {
  checkWords(offers, request);
  const { status, kind, market, userId } = request;
  return (
    (status === '' || statesOf[status]!.includes(job.state)) &&
    (kind === '' || kind === job.kind) &&
    (market === '' || market === job.market) &&
    (userId === '' || userId === job.userId)
  );
}

function checkWords(offers: Offers, { status, kind, market }: ListRequest): void {
  const markets = new Set(offers.methods.values().map((method) => method.market.name));
  const words = {
    status: [status, jobStatuses],
    kind: [kind, kinds.map(({ name }) => name)],
    market: [market, [...markets]],
  } as const;
  for (const [field, [value, known]] of Object.entries(words)) {
    if (value !== '' && !known.includes(value))
      throw Fault.invalid(['body', field], `'${value}' is not one of ${known.join(', ')}`, 'enum');
  }
}
