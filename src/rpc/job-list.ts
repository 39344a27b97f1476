import { Fault } from '../contract/fault.ts';
import { jobStatuses } from '../contract/job-status.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import type { Offers } from '../jobs/offers.ts';
import { kinds } from '../kinds/list.ts';
import { isAccepted } from '../kinds/states.ts';
import type { Page } from '../store/cursor.ts';
import type { Job } from '../store/documents.ts';
import { statesOf } from '../store/job-states.ts';
import type { JobFilter } from '../store/store.ts';
import { defaultPageSize } from './handlers.ts';

/** Dependencies of this module. */
export type JobListContext = Pick<JobContext, 'offers'> & StoreUse<'listJobs'>;

/** Common fields of the list requests of users and operators. */
export interface ListRequest {
  status: string;
  kind: string;
  market: string;
  pageSize: number;
  pageToken: string;
}

/** Visibility of jobs for a caller. */
export interface JobVisibility {
  owners: Pick<JobFilter, 'userId' | 'userIds' | 'mode'>;
  /** True to include jobs whose submit is not finished. */
  unfinished: boolean;
}

/** Returns a page of the requested jobs, newest first. Fault `invalid` for an unknown status, kind or marketplace. */
export async function listJobs(
  { store, offers }: JobListContext,
  request: ListRequest,
  { owners, unfinished }: JobVisibility,
): Promise<Page<Job>> {
  checkFilter(offers, request);
  const { status, kind, market } = request;
  const states = (status === '' ? jobStatuses.flatMap(statesOf) : statesOf(status)).filter(
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

/** Returns whether the requested list includes a job. Faults as listJobs(). */
export function isListed(
  { offers }: JobListContext,
  job: Job,
  request: ListRequest & { userId: string },
): boolean {
  checkFilter(offers, request);
  const { status, kind, market, userId } = request;
  return (
    (status === '' || statesOf(status).includes(job.state)) &&
    (kind === '' || kind === job.kind) &&
    (market === '' || market === job.market) &&
    (userId === '' || userId === job.userId)
  );
}

function checkFilter(offers: Offers, { status, kind, market }: ListRequest): void {
  const markets = new Set(offers.methods.values().map((method) => method.market.name));
  const values = {
    status: [status, jobStatuses],
    kind: [kind, kinds.map(({ name }) => name)],
    market: [market, [...markets]],
  } as const;
  for (const [field, [value, known]] of Object.entries(values)) {
    if (value !== '' && !known.includes(value))
      throw Fault.invalid(['body', field], `'${value}' is not one of ${known.join(', ')}`, 'enum');
  }
}
