import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Anchor, SimpleGrid } from '@mantine/core';
import { Link } from 'react-router';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Fact } from '../layout/Fact.tsx';
import { Identifier } from '../list/Identifier.tsx';
import { formatCount } from '../number/format.ts';
import { useSession } from '../session/session.ts';
import { regionText } from '../text/region.ts';
import { formatDuration } from '../time/format.ts';
import { Moment } from '../time/Moment.tsx';
import { creditsText } from './outcome.ts';

const msOf = (at: Timestamp) => Number(at.seconds) * 1000;

/** Key facts of a job. */
export function JobSummary({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  const until = job.finishedAt ? msOf(job.finishedAt) : Date.now();
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="md">
      <Fact name="Job">
        <Identifier value={job.jobId} name="job ID" />
      </Fact>
      {operator && (
        <Fact name="User">
          <Anchor component={Link} to={`/users/${job.userId}`} size="sm" underline="always">
            {job.userName || job.userId}
          </Anchor>
          {job.userBalance !== undefined && ` (balance ${formatCount(job.userBalance)})`}
        </Fact>
      )}
      <Fact name="Credits">{creditsText(job)}</Fact>
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
      {job.startedAt && <Fact name="Duration">{formatDuration(until - msOf(job.startedAt))}</Fact>}
      {job.finishedAt && (
        <Fact name="Ended">
          <Moment at={job.finishedAt} />
        </Fact>
      )}
      {job.retryOf !== '' && (
        <Fact name="Retry of">
          <Anchor component={Link} to={`/jobs/${job.retryOf}`} size="sm" underline="always">
            {job.retryOf.slice(0, 8)}
          </Anchor>
        </Fact>
      )}
    </SimpleGrid>
  );
}
