import { Group } from '@mantine/core';
import { useForceUpdate } from '@mantine/hooks';
import { type ReactNode, useEffect } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { seriesOf } from '../../../src/contract/track.ts';
import { creditsText, durationMs } from '../../../src/present/job.ts';
import { jobTypeText } from '../../../src/present/names.ts';
import { shortId } from '../../../src/present/text.ts';
import { formatDuration } from '../../../src/present/time.ts';
import { JobProgress } from '../ui/jobs/JobProgress.tsx';
import { JobBadge } from '../ui/jobs/StatusBadge.tsx';
import { TestBadge } from '../ui/layout/Page.tsx';
import { useSession } from '../ui/session/session.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { Moment } from '../ui/time/Moment.tsx';
import { TimeLeft } from './TimeLeft.tsx';

/** Status, progress, and key facts of a job in one line, with links to what it belongs to. */
export function JobLine({ job }: { job: Job }) {
  const { role } = useSession();
  const duration = durationMs(job, useNow(!job.ended));
  return (
    <Group gap="sm" fz="sm" role="group" aria-label="Summary">
      <JobBadge job={job} />
      {job.mode === 'test' && <TestBadge />}
      <JobProgress job={job} />
      {job.options?.name && <span>{jobTypeText(job)}</span>}
      <span>{creditsText(job)}</span>
      {duration !== null && (
        <span>
          {job.ended ? 'took' : 'running for'} {formatDuration(duration)}
        </span>
      )}
      {!job.ended && job.startedAt && job.total > 1 && <TimeLeft job={job} />}
      <span>
        <Moment at={job.createdAt} relative />
      </span>
      {role === 'operator' && (
        <LinkTo to={`/users/${job.userId}`}>{job.userName || shortId(job.userId)}</LinkTo>
      )}
      <Origin job={job} />
    </Group>
  );
}

const LinkTo = ({ to, children }: { to: string; children: ReactNode }) => (
  <TextLink to={to} underline="always">
    {children}
  </TextLink>
);

/** Links to the schedule or the series of a job, and to the job that it retries or rereads. */
function Origin({ job: { options, retryOf, rereadOf, scheduleId } }: { job: Job }) {
  const { role } = useSession();
  const series = seriesOf(options?.track);
  return (
    <>
      {scheduleId !== '' && <LinkTo to={`/schedules/${scheduleId}`}>Schedule</LinkTo>}
      {series && scheduleId === '' && (
        <span>Series {role === 'user' ? <LinkTo to="?tab=changes">{series}</LinkTo> : series}</span>
      )}
      {rereadOf !== '' && (
        <span>
          Reread of <LinkTo to={`/jobs/${rereadOf}`}>{shortId(rereadOf)}</LinkTo>
        </span>
      )}
      {retryOf !== '' && (
        <span>
          Retry of <LinkTo to={`/jobs/${retryOf}`}>{shortId(retryOf)}</LinkTo>
        </span>
      )}
    </>
  );
}

/** Returns the current time in milliseconds, and renders each second while `advances`. */
function useNow(advances: boolean): number {
  const render = useForceUpdate();
  useEffect(() => {
    if (!advances) return;
    const timer = setInterval(render, 1_000);
    return () => clearInterval(timer);
  }, [advances, render]);
  return Date.now();
}
