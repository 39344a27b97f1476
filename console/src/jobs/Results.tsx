import { useQuery } from '@connectrpc/connect-query';
import { EmptyState, Skeleton, Stack } from '@mantine/core';
import { IconInbox, IconLock } from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Section } from '../ui/layout/Section.tsx';
import { useRefusal } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { Files } from './Files.tsx';
import { Explorer } from './records/Explorer.tsx';
import { InvalidRecords } from './records/InvalidRecords.tsx';
import { noneYet } from './records/query.ts';

const WholeRecord = lazy(async () => ({
  default: (await import('./records/WholeRecord.tsx')).WholeRecord,
}));

/** Records of a job, if the session's key may read them, and what follows them. */
function Records({ job, below }: { job: Job; below?: ReactNode }) {
  const refusal = useRefusal(JobService.method.listRecords);
  if (refusal !== null)
    return (
      <Stack>
        <EmptyState icon={<IconLock />} title="Records not shown" description={refusal} py="lg" />
        <InvalidRecords jobId={job.jobId} ended={job.ended} />
        {below}
      </Stack>
    );
  if (below === undefined && job.total === 1)
    return (
      <Suspense fallback={<Skeleton height={240} role="status" aria-label="Loading record" />}>
        <WholeRecord job={job} unitIndex={0} position={0} />
      </Suspense>
    );
  return <Explorer job={job} below={below} />;
}

/** Results of a job: its records, and the files of kinds that write some. */
export function Results({ job }: { job: Job }) {
  const query = useQuery(
    JobService.method.listFiles,
    { jobId: job.jobId },
    { refetchInterval: job.ended ? false : pollMs.list },
  );
  const { refetch } = query;
  // The merged file is written just before the job ends.
  useEffect(() => {
    if (job.ended) void refetch();
  }, [job.ended, refetch]);
  const files = query.data?.files;
  if (job.filesDeletedAt)
    return (
      <EmptyState
        icon={<IconInbox />}
        title="Results deleted"
        description="The result files of this job were deleted. Its units are kept."
        py="lg"
      />
    );
  if (job.ended && files?.length === 0 && !query.isFetching) {
    if (job.success > 0) return <Records job={job} />;
    const description =
      job.notRun === job.total
        ? 'This job did not run.'
        : 'No unit succeeded. See Failures for the reasons.';
    return <EmptyState icon={<IconInbox />} title="No results" description={description} py="lg" />;
  }
  const list = <Files jobId={job.jobId} files={files ?? []} query={query} />;
  if (job.success + job.failed === 0) {
    const description = job.startedAt ? noneYet.description : 'The job has not started.';
    return (
      <>
        <EmptyState icon={<IconInbox />} title={noneYet.title} description={description} py="lg" />
        {(files?.length ?? 0) > 0 && list}
      </>
    );
  }
  return <Records job={job} below={<Section title="Files">{list}</Section>} />;
}
