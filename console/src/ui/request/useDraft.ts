import { createClient } from '@connectrpc/connect';
import { useQuery } from '@tanstack/react-query';
import { type Job, JobService, type Unit } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { ScheduleService } from '../../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { findJobType, type JobType } from '../../../../src/contract/job-types.ts';
import { transport } from '../session/transport.ts';
import { type Draft, draftOf, draftOfRequest, emptyDraft } from './draft.ts';
import { readRequestShape } from './fields.ts';

/** Maximum units per request of a list. */
const pageSize = 1_000;

/** Where a request is taken from: one of the caller's jobs or schedules; `''` for neither. */
export interface DraftSource {
  jobId: string;
  scheduleId: string;
}

/** Loads the request of a job or a schedule. Without either, the draft is empty. */
export function useDraft({ jobId = '', scheduleId = '' }: Partial<DraftSource>) {
  const { data, error, refetch } = useQuery({
    queryKey: ['draft', jobId, scheduleId],
    queryFn: () => (jobId === '' ? loadScheduleDraft(scheduleId) : loadDraft(jobId)),
    enabled: jobId !== '' || scheduleId !== '',
    // The request of a job never changes, and that of a schedule not while it is edited here.
    staleTime: Number.POSITIVE_INFINITY,
    ...(scheduleId === '' ? {} : { gcTime: 0 }),
  });
  return { draft: jobId === '' && scheduleId === '' ? emptyDraft : data, error, refetch };
}

/** Returns the kind of a job or a schedule. Throws an error for one that is not offered. */
function requireJobType(of: { market: string; kind: string }): JobType {
  const jobType = findJobType(of);
  if (!jobType) throw new Error('This service does not offer this kind of job any more.');
  return jobType;
}

async function loadScheduleDraft(scheduleId: string): Promise<Draft> {
  const client = createClient(ScheduleService, transport);
  const schedule = await client.getSchedule({ scheduleId });
  const shape = readRequestShape(requireJobType(schedule).method.input);
  return draftOfRequest(shape, schedule.request ?? '{}', schedule.options);
}

async function loadDraft(jobId: string): Promise<Draft> {
  const client = createClient(JobService, transport);
  const job: Job = await client.getJob({ jobId });
  const jobType = requireJobType(job);
  const units: Unit[] = [];
  let pageToken = '';
  do {
    const page = await client.listUnits({ jobId, pageSize, pageToken });
    units.push(...page.units);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return draftOf(readRequestShape(jobType.method.input), job, units);
}
