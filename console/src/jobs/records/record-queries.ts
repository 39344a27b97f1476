import { skipToken } from '@tanstack/react-query';
import { type Job, JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { useList } from '../../ui/list/useList.ts';
import { pollMs } from '../../ui/queries.ts';
import type { AccountRole } from '../../ui/session/session.ts';
import { useSession } from '../../ui/session/session.ts';
import { defaultSort } from './query.ts';
import { useRecordView } from './view.ts';

/**
 * Returns the options of queries that read records. The audit log has an entry for each time that an operator
 * reads some, so an operator's page does not read them again by itself.
 */
export const recordQueryOptions = (role: AccountRole, refetchInterval: number | false) =>
  role === 'operator'
    ? ({ staleTime: 'static', refetchInterval: false } as const)
    : // Those that were requested beside the job are not requested again when they are shown.
      { staleTime: pollMs.idle, refetchInterval };

/** Job whose records are shown; only its id while the job is loading. */
type ShownJob = Pick<Job, 'jobId'> & Partial<Job>;

/** Loads the records of a job in the view of the page. Undefined loads none. */
export function useRecords(job: ShownJob | undefined) {
  const { role } = useSession();
  const [{ search, conditions, status, sort, fields }] = useRecordView();
  const { jobId, ended = true, notRun = 0, success = 0, total = 0 } = job ?? {};
  const request = {
    ...{ jobId, search, filter: [...conditions], status },
    sort: sort || defaultSort({ notRun, success, total }),
    // A screenful: each row costs time on a phone.
    pageSize: 25,
    // The drawer requests the whole record.
    column: fields.length === 0 ? ['unit_index'] : [...fields],
  };
  return useList(JobService.method.listRecords, job ? request : skipToken, (page) => page.records, {
    ...recordQueryOptions(role, ended ? false : pollMs.list),
    keepsRows: true,
  });
}
