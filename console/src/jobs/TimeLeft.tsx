import { useQuery } from '@connectrpc/connect-query';
import { Text } from '@mantine/core';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { isStalled, remainingMs } from '../../../src/present/remaining.ts';
import { formatDuration } from '../../../src/present/time.ts';
import { pollMs } from '../ui/queries.ts';

/** Loads the progress of a job, and polls it until the job ends. */
export function useProgress({ jobId, ended }: Job) {
  return useQuery(
    JobService.method.getProgress,
    { jobId },
    { refetchInterval: ended ? false : pollMs.active },
  );
}

/** Estimate of the remaining time of a running job; nothing without one. */
export function TimeLeft({ job }: { job: Job }) {
  const { data } = useProgress(job);
  const waiting = job.waitingFor !== '';
  if (!data || (!waiting && isStalled(data.points))) return null;
  const ms = remainingMs(data.points, job.total);
  if (ms === undefined) return null;
  const duration = formatDuration(ms);
  return (
    <Text size="sm" c="dimmed">
      {waiting ? `About ${duration} of work left after the wait` : `About ${duration} left`}
    </Text>
  );
}
