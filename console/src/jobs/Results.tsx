import { useQuery } from '@connectrpc/connect-query';
import { EmptyState, Stack } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Section } from '../layout/Section.tsx';
import { Explorer } from '../records/Explorer.tsx';
import { useSession } from '../session/session.ts';
import { Files } from './Files.tsx';
import { listFilesMethod } from './methods.ts';
import { Records } from './Records.tsx';

/** Results of a job: its files, or its records if its kind writes no files. */
export function Results({ job }: { job: Job }) {
  const { role } = useSession();
  const query = useQuery(
    listFilesMethod(role),
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
    if (job.success > 0)
      return role === 'operator' || job.total === 1 ? <Records job={job} /> : <Explorer job={job} />;
    const description =
      job.notRun === job.total ? 'This job did not run.' : 'No unit succeeded. See Failures for the reasons.';
    return <EmptyState icon={<IconInbox />} title="No results" description={description} py="lg" />;
  }
  const list = <Files jobId={job.jobId} files={files ?? []} query={query} />;
  if (role === 'operator' || job.success + job.failed === 0) return list;
  return (
    <Stack gap="xl">
      <Explorer job={job} />
      <Section title="Files">{list}</Section>
    </Stack>
  );
}
