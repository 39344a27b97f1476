import { skipToken } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { type Job, JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { useList } from '../../ui/list/useList.ts';
import { pollMs } from '../../ui/queries.ts';
import { type AccountRole, useSession } from '../../ui/session/session.ts';
import { defaultSort, type RecordFilter } from './query.ts';

/**
 * Returns the options of queries that read records. The audit log has an entry for each time that
 * an operator reads some, so an operator's page does not read them again by itself.
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
    jobId,
    search,
    filter: [...conditions],
    status,
    sort: sort || defaultSort({ notRun, success, total }),
    // A screenful: each row costs time on a phone.
    pageSize: 25,
    // The drawer requests the whole record.
    column: fields.length === 0 ? ['unit_index'] : [...fields],
  };
  return useList(JobService.method.listRecords, job ? request : skipToken, (page) => page.records, {
    ...recordQueryOptions(role, ended ? false : pollMs.active),
    keepsRows: true,
  });
}

/** Selection, order, and additional columns of the records on a page. */
export interface RecordView extends RecordFilter {
  /** Fields shown in addition to the common columns. */
  fields: readonly string[];
  layout: 'table' | 'cards';
}

/**
 * Returns the key of the record that the address of the page names, null for none, and a function
 * that opens another.
 */
export function useOpenRecord(): [key: string | null, open: (key: string | null) => void] {
  const [parameters, setParameters] = useSearchParams();
  const open = (key: string | null) =>
    setParameters(
      (current) => {
        if (key === null) current.delete('record');
        else current.set('record', key);
        return current;
      },
      { replace: true, preventScrollReset: true },
    );
  const key = parameters.get('record');
  return [key !== null && /^\d{1,9}\.\d{1,9}$/.test(key) ? key : null, open];
}

/** Returns the view that an address names. */
export function readView(parameters: URLSearchParams): RecordView {
  const status = parameters.get('status');
  return {
    search: parameters.get('search') ?? '',
    conditions: parameters.getAll('filter'),
    status: status === 'SUCCESS' || status === 'FAILED' ? status : '',
    sort: parameters.get('sort') ?? '',
    fields: parameters.getAll('column'),
    layout: parameters.get('view') === 'cards' ? 'cards' : 'table',
  };
}

/** Writes a view into an address. Other parameters are kept. */
export function writeView(parameters: URLSearchParams, view: RecordView): void {
  const lists = { filter: view.conditions, column: view.fields };
  for (const [name, texts] of Object.entries(lists)) {
    parameters.delete(name);
    for (const text of texts) parameters.append(name, text);
  }
  for (const name of ['search', 'status', 'sort'] as const)
    if (view[name] === '') parameters.delete(name);
    else parameters.set(name, view[name]);
  if (view.layout === 'cards') parameters.set('view', 'cards');
  else parameters.delete('view');
}

/**
 * Returns the view of the page, which its address keeps, and a function that changes a part of it.
 */
export function useRecordView(): [view: RecordView, change: (part: Partial<RecordView>) => void] {
  const [parameters, setParameters] = useSearchParams();
  const change = (part: Partial<RecordView>) =>
    setParameters(
      (current) => {
        writeView(current, { ...readView(current), ...part });
        return current;
      },
      { replace: true, preventScrollReset: true },
    );
  return [readView(parameters), change];
}
