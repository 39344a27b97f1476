import { Anchor, Button, Group, Paper, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { FaultAlert } from '../fault/FaultAlert.tsx';
import { JobName } from '../jobs/JobsTable.tsx';
import { noFilter, useJobs } from '../jobs/useJobs.ts';
import { Page } from '../layout/Page.tsx';
import { type Column, ListTable } from '../list/ListTable.tsx';
import { countText } from '../number/text.ts';
import { kindText } from '../offers/offers.ts';
import { ReasonModal } from '../reason/ReasonModal.tsx';
import { Moment } from '../time/Moment.tsx';
import { UnitsDrawer } from './UnitsDrawer.tsx';
import { useDecisions } from './useDecisions.ts';

const columns: Column<Job>[] = [
  {
    title: 'User',
    cell: (job) => (
      <Anchor component={Link} to={`/users/${job.userId}`} size="sm">
        {job.userName || job.userId.slice(0, 8)}
      </Anchor>
    ),
  },
  { title: 'Job', cell: (job) => <JobName job={job} /> },
  { title: 'Units', align: 'right', cell: (job) => countText(job.total) },
  { title: 'Cost', align: 'right', cell: (job) => countText(job.cost) },
  { title: 'Balance', align: 'right', cell: (job) => <Balance job={job} /> },
  { title: 'Submitted', cell: (job) => <Moment at={job.createdAt} relative /> },
  { title: 'Time left', cell: (job) => <Moment at={job.decideBy} relative /> },
];

function Balance({ job }: { job: Job }) {
  if (job.userBalance === undefined) return '–';
  const short = job.userBalance < job.cost;
  return (
    <>
      {countText(job.userBalance)}
      {short && (
        <Text size="xs" fw={600} c="var(--mantine-color-error)">
          too low
        </Text>
      )}
    </>
  );
}

/** Jobs that wait for an operator: what they are and cost, and whether to start them. */
export function ApprovalsPage() {
  const { jobs, query } = useJobs({ ...noFilter, status: 'awaiting_approval' });
  const { busy, refusals, approve, reject } = useDecisions();
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [looked, look] = useState<Job | null>(null);
  const [rejected, askToReject] = useState<readonly Job[]>([]);
  const picked = jobs.filter(({ jobId }) => chosen.has(jobId));
  const decide: Column<Job> = {
    title: 'Decision',
    cell: (job) => (
      <Group gap={6} wrap="nowrap">
        <Button size="compact-sm" variant="default" onClick={() => look(job)}>
          Look
        </Button>
        <Button size="compact-sm" disabled={busy} onClick={() => approve([job])}>
          Approve
        </Button>
        <Button size="compact-sm" variant="default" disabled={busy} onClick={() => askToReject([job])}>
          Reject
        </Button>
      </Group>
    ),
  };
  return (
    <Page
      title="Approvals"
      about="Jobs that wait for your decision. Those that nobody decides on are rejected by themselves."
    >
      {picked.length > 0 && (
        <Paper withBorder p="xs" radius="md" role="group" aria-label="Decision on what is chosen">
          <Group justify="space-between">
            <Text size="sm">
              {picked.length} chosen, {countText(picked.reduce((sum, { cost }) => sum + cost, 0))} credits
            </Text>
            <Group gap="xs">
              <Button
                size="xs"
                loading={busy}
                leftSection={<IconCheck size={16} aria-hidden />}
                onClick={() => approve(picked).then(() => choose(new Set()))}
              >
                Approve {picked.length}
              </Button>
              <Button
                size="xs"
                variant="default"
                disabled={busy}
                leftSection={<IconX size={16} aria-hidden />}
                onClick={() => askToReject(picked)}
              >
                Reject {picked.length}
              </Button>
            </Group>
          </Group>
        </Paper>
      )}
      <ListTable
        label="Jobs that wait for approval"
        rows={jobs}
        keyOf={({ jobId }) => jobId}
        query={query}
        columns={[...columns, decide]}
        minWidth={900}
        selection={{
          chosen,
          choose,
          nameOf: ({ kind, userName, jobId }) => `${kindText(kind)} of ${userName || jobId}`,
        }}
        below={({ jobId }) =>
          refusals.has(jobId) ? <FaultAlert error={refusals.get(jobId)} title="Not approved" /> : null
        }
        empty={{ title: 'Nothing waits for you', about: 'New jobs turn up here by themselves.' }}
      />
      <UnitsDrawer job={looked} close={() => look(null)} />
      <ReasonModal
        opened={rejected.length > 0}
        title={rejected.length === 1 ? 'Reject this job?' : `Reject ${rejected.length} jobs?`}
        about="They end without being worked on. Their users see the reason."
        confirm="Reject"
        busy={busy}
        close={() => askToReject([])}
        decide={async (reason) => {
          askToReject([]);
          await reject(rejected, reason);
          choose(new Set());
        }}
      />
    </Page>
  );
}
