import { createClient } from '@connectrpc/connect';
import { useQuery } from '@tanstack/react-query';
import { type Job, JobService, type Unit } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { findJobType } from '../../../../src/contract/job-types.ts';
import { transport } from '../session/transport.ts';
import { type Draft, draftOf, emptyDraft } from './draft.ts';
import { readRequestShape } from './fields.ts';

/** Maximum units per request of a list. */
const pageSize = 1_000;

/** Loads the request of one of the caller's jobs. Without a job, the draft is empty. */
export function useDraft(jobId: string) {
  const { data, error, refetch } = useQuery({
    queryKey: ['draft', jobId],
    queryFn: () => loadDraft(jobId),
    enabled: jobId !== '',
    // The request of a job never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { draft: jobId === '' ? emptyDraft : data, error, refetch };
}

async function loadDraft(jobId: string): Promise<Draft> {
  const client = createClient(JobService, transport);
  const job: Job = await client.getJob({ jobId });
  const jobType = findJobType(job);
  if (!jobType) throw new Error('This service does not offer the kind of this job any more.');
  const units: Unit[] = [];
  let pageToken = '';
  do {
    const page = await client.listUnits({ jobId, pageSize, pageToken });
    units.push(...page.units);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return draftOf(readRequestShape(jobType.method.input), job, units);
}
