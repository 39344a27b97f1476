import { useQuery } from '@connectrpc/connect-query';
import { Alert, Code, List } from '@mantine/core';
import { IconChartBar, IconUserCheck } from '@tabler/icons-react';
import { skipToken } from '@tanstack/react-query';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { counted, formatCount, formatPercentage } from '../../../src/present/text.ts';
import { emptyFilter, useJobs } from '../ui/jobs/useJobs.ts';
import { useSession } from '../ui/session/session.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { Moment } from '../ui/time/Moment.tsx';
import { fillDrops, lacksPrices, lastRun } from './fill-drops.ts';

/** Newest jobs among which the last run is searched. */
const maxSearchedJobs = 50;

/** Maximum fields that are listed. */
const maxShown = 8;

/**
 * Shows the fields that fewer records of an ended job have than those of the last run; nothing if
 * none.
 */
export function Fill({ job }: { job: Job }) {
  const { jobId, kind, market, userId, mode } = job;
  const { jobs } = useJobs(
    {
      ...emptyFilter,
      kind,
      market,
      userId,
      mode,
    },
    maxSearchedJobs,
  );
  const previous = lastRun(job, jobs);
  const quality = useQuery(JobService.method.getQuality, { jobId }).data;
  const previousQuality = useQuery(
    JobService.method.getQuality,
    previous ? { jobId: previous.jobId } : skipToken,
  ).data;
  const fields = quality?.fields ?? [];
  const drops = fillDrops(fields, previousQuality?.fields ?? []);
  if (drops.length === 0 && !lacksPrices(fields)) return null;
  return (
    <Alert
      color="yellow"
      icon={<IconChartBar />}
      title={
        drops.length === 0
          ? 'No record has a price'
          : 'Fields filled less often than in the last run'
      }
    >
      {drops.length > 0 && (
        <List size="sm">
          {drops.slice(0, maxShown).map(({ name, percent, before }) => (
            <List.Item key={name}>
              <Code style={{ overflowWrap: 'anywhere' }}>{name}</Code>: {formatPercentage(percent)},
              last run {formatPercentage(before)}
            </List.Item>
          ))}
        </List>
      )}
      {drops.length > maxShown && `And ${drops.length - maxShown} more. `}
      {previous && drops.length > 0 && (
        <TextLink to={`/jobs/${previous.jobId}`}>Open the last run</TextLink>
      )}
    </Alert>
  );
}

/** Says who decides on a job that awaits approval, until when, and what it costs then. */
export function Approval({ job }: { job: Job }) {
  if (job.mode !== 'test') return <Decision job={job} />;
  return (
    <Alert color="yellow" icon={<IconUserCheck />} title="Awaiting approval">
      Jobs on test data are approved automatically, usually within 5 seconds.
    </Alert>
  );
}

function Decision({ job: { cost, decideBy, scheduleId, userBalance } }: { job: Job }) {
  const isOperator = useSession().role === 'operator';
  const account = useQuery(AccountService.method.getAccount, {}, { enabled: !isOperator });
  const balance = userBalance ?? account.data?.account?.balance;
  return (
    <Alert color="yellow" icon={<IconUserCheck />} title="Awaiting approval">
      {isOperator ? 'You decide on this job.' : 'An operator of this service decides on this job.'}
      {decideBy && (
        <>
          {' '}
          Without a decision it is rejected <Moment at={decideBy} relative />, and nothing is
          charged.
        </>
      )}{' '}
      An approval charges {counted(cost, 'credit')}
      {balance === undefined ? '' : ` of a balance of ${formatCount(balance)}`}.
      {scheduleId !== '' && ' It covers the later runs of the schedule that cost no more.'}
    </Alert>
  );
}
