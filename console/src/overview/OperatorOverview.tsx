import { useQuery } from '@connectrpc/connect-query';
import { Skeleton } from '@mantine/core';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { counted, formatCount } from '../../../src/present/text.ts';
import { LatestJobs } from '../ui/jobs/LatestJobs.tsx';
import { emptyFilter, maxPending, pendingText, useJobs, usePending } from '../ui/jobs/useJobs.ts';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { Tile, Tiles } from '../ui/layout/Tiles.tsx';
import { DriftAlarms } from '../ui/origins/DriftAlarms.tsx';
import { OriginsTable } from '../ui/origins/OriginsTable.tsx';
import { pollMs, useLoading } from '../ui/queries.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { summarizeOrigins } from './figures.ts';
import { SetupProblems } from './SetupProblems.tsx';

const maxOrigins = 5;

/** Loads the origins: one query for all that show or count them. */
const useOrigins = () =>
  useQuery(OperatorService.method.listOrigins, {}, { refetchInterval: pollMs.list });

function PendingJobs() {
  const pending = usePending();
  return (
    <Tile
      title="Jobs awaiting approval"
      value={pendingText(pending)}
      to="/approvals"
      isUrgent={pending.jobs.length > 0}
    />
  );
}

function RunningJobs() {
  const running = useJobs({ ...emptyFilter, status: 'processing' }, maxPending);
  return <Tile title="Running jobs" value={pendingText(running)} to="/jobs?status=processing" />;
}

function Backlog() {
  const { data: work } = useQuery(
    OperatorService.method.getWork,
    {},
    { refetchInterval: pollMs.list },
  );
  const sum = (of: 'queued' | 'claimed') =>
    formatCount(work?.backlog.reduce((total, lane) => total + lane[of], 0) ?? 0);
  return (
    <Tile
      title="Queued batches"
      value={work && sum('queued')}
      note={
        work &&
        `${sum('claimed')} running in ${counted(work.processes.length, 'process', 'processes')}`
      }
      to="/work"
    />
  );
}

function PausedOrigins() {
  const { data: sites } = useOrigins();
  const health = sites && summarizeOrigins(sites.origins, Date.now());
  return (
    <Tile
      title="Paused origins"
      value={health && `${health.paused} of ${sites.origins.length}`}
      note={health?.note}
      to="/origins"
      isUrgent={(health?.paused ?? 0) > 0}
    />
  );
}

function OpenDriftAlarms() {
  const drift = useQuery(
    OperatorService.method.listDriftAlarms,
    { all: false },
    { refetchInterval: pollMs.idle },
  );
  const alarms = drift.data?.alarms.length;
  return (
    <Tile
      title="Drift alarms"
      value={alarms === undefined ? undefined : formatCount(alarms)}
      note="fields that sites no longer show"
      to="/origins"
      isUrgent={(alarms ?? 0) > 0}
    />
  );
}

/** The most urgent origins. */
function Marketplaces() {
  const origins = useOrigins();
  return (
    <Section title="Marketplaces" actions={<TextLink to="/origins">All origins</TextLink>}>
      <OriginsTable query={origins} maxOrigins={maxOrigins} />
    </Section>
  );
}

/**
 * What an operator wants to know first: decisions, running work, health of the marketplaces, and
 * failures.
 */
export function OperatorOverview() {
  return (
    <Page title="Overview">
      <Tiles>
        <PendingJobs />
        <RunningJobs />
        <Backlog />
        <PausedOrigins />
        <OpenDriftAlarms />
      </Tiles>
      <Attention />
    </Page>
  );
}

/** What may need an operator, the most urgent first. */
function Attention() {
  const pending = usePending();
  const failed = useJobs({ ...emptyFilter, status: 'failed' }, 5);
  const setup = useQuery(OperatorService.method.listSetupProblems, {}, { staleTime: 'static' });
  // All at once, so that nothing on the page moves.
  if (useLoading(setup)) return <Skeleton height={320} />;
  return (
    <>
      <SetupProblems problems={setup.data?.problems ?? []} />
      <LatestJobs
        title="Awaiting approval"
        jobs={pending.jobs}
        query={pending.query}
        owners
        all={['/approvals', 'All approvals']}
        empty={{ title: 'Nothing to decide' }}
      />
      <DriftAlarms isBrief />
      <Marketplaces />
      <LatestJobs
        title="Latest failed jobs"
        jobs={failed.jobs}
        query={failed.query}
        owners
        all={['/jobs?status=failed', 'All failed jobs']}
        empty={{ title: 'No job has failed' }}
      />
    </>
  );
}
