import { SimpleGrid } from '@mantine/core';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { creditsText, durationMs } from '../../../src/present/job.ts';
import { jobTypeText } from '../../../src/present/names.ts';
import { formatCount, regionText } from '../../../src/present/text.ts';
import { formatDuration } from '../../../src/present/time.ts';
import { CopyId } from '../ui/CopyId.tsx';
import { Id } from '../ui/Id.tsx';
import { Fact } from '../ui/layout/Section.tsx';
import { useSession } from '../ui/session/session.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { Moment } from '../ui/time/Moment.tsx';

export function JobSummary({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  const duration = durationMs(job, Date.now());
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
      <Fact name="Job">
        <CopyId value={job.jobId} name="job ID" />
      </Fact>
      {job.options?.name && <Fact name="Kind">{jobTypeText(job)}</Fact>}
      {operator && (
        <Fact name="User">
          <TextLink to={`/users/${job.userId}`} underline="always">
            {job.userName || job.userId}
          </TextLink>
          {job.userBalance !== undefined && ` (balance ${formatCount(job.userBalance)})`}
        </Fact>
      )}
      <Fact name="Credits">{creditsText(job)}</Fact>
      <Fact name="Price">{formatCount(job.unitPrice)} per unit</Fact>
      <Fact name="Units">{formatCount(job.total)}</Fact>
      {job.notRun < job.total && (
        <Fact name="Batches">{`${formatCount(job.batchesDone)} of ${formatCount(job.batches)} done`}</Fact>
      )}
      {job.region !== '' && <Fact name="Region">{regionText(job.region)}</Fact>}
      {job.taskId !== undefined && <Fact name="Task ID">{String(job.taskId)}</Fact>}
      <Fact name="Submitted">
        <Moment at={job.createdAt} />
      </Fact>
      {job.decideBy && !job.startedAt && !job.ended && (
        <Fact name="Approval expires">
          <Moment at={job.decideBy} relative />
        </Fact>
      )}
      {job.decidedBy !== '' && <Fact name="Decided by">{job.decidedBy}</Fact>}
      {duration !== null && <Fact name="Duration">{formatDuration(duration)}</Fact>}
      {job.finishedAt && (
        <Fact name="Ended">
          <Moment at={job.finishedAt} />
        </Fact>
      )}
      <OriginFacts job={job} />
    </SimpleGrid>
  );
}

/** The job that a job retries or rereads, and its own kept pages. */
function OriginFacts({ job: { retryOf, rereadOf, keptPages } }: { job: Job }) {
  return (
    <>
      {retryOf !== '' && (
        <Fact name="Retry of">
          <Id of="jobs" value={retryOf} underline="always" />
        </Fact>
      )}
      {rereadOf !== '' && (
        <Fact name="Reread of">
          <Id of="jobs" value={rereadOf} underline="always" />
        </Fact>
      )}
      {keptPages && (
        <Fact name="Kept pages">
          {formatCount(keptPages.kept)}
          {keptPages.missed > 0 && `, ${formatCount(keptPages.missed)} not kept`}
          {keptPages.deleteAt ? ', until ' : ', deleted'}
          {keptPages.deleteAt && <Moment at={keptPages.deleteAt} />}
        </Fact>
      )}
    </>
  );
}
