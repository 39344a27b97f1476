import { useQuery } from '@connectrpc/connect-query';
import { Code } from '@mantine/core';
import {
  type Backlog,
  OperatorService,
  type Process,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { marketTitle } from '../../../src/present/names.ts';
import { capitalize, formatBytes, formatCount } from '../../../src/present/text.ts';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { pollMs } from '../ui/queries.ts';
import { Moment } from '../ui/time/Moment.tsx';

const lanes: ListColumn<Backlog>[] = [
  { title: 'Marketplace', cell: ({ market }) => marketTitle(market) },
  { title: 'Lane', cell: ({ lane }) => capitalize(lane) },
  { title: 'Queued batches', align: 'right', cell: ({ queued }) => formatCount(queued) },
  { title: 'Running batches', align: 'right', cell: ({ claimed }) => formatCount(claimed) },
];

/** Formats the workers of a process; one without any may run units itself. */
function workersText({ role, workers }: Process) {
  if (workers === 0 && role === 'serve') return 'In process';
  return formatCount(workers);
}

const processes: ListColumn<Process>[] = [
  { title: 'Role', cell: ({ role }) => role },
  {
    title: 'Host',
    cell: ({ host, pid }) => (
      <>
        {host} <Code>{pid}</Code>
      </>
    ),
  },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Started', cell: ({ startedAt }) => <Moment at={startedAt} relative /> },
  { title: 'Last seen', cell: ({ seenAt }) => <Moment at={seenAt} relative /> },
  { title: 'Workers', align: 'right', cell: workersText },
  { title: 'Memory', align: 'right', cell: ({ memoryBytes }) => formatBytes(memoryBytes) },
  { title: 'Running batches', align: 'right', cell: ({ batches }) => formatCount(batches) },
  { title: 'Status', cell: ({ paused }) => (paused === '' ? 'Running' : `Paused: ${paused}`) },
  { title: 'Units done', align: 'right', cell: ({ unitsDone }) => formatCount(unitsDone) },
  {
    title: 'Clock skew',
    align: 'right',
    // Without the sign of a negative number that is rounded to zero.
    cell: ({ clockSkewMs }) => `${(Math.round(Number(clockSkewMs) / 100) / 10 || 0).toFixed(1)} s`,
  },
];

/** Queued batches and the processes of the service. */
export function WorkPage() {
  const query = useQuery(OperatorService.method.getWork, {}, { refetchInterval: pollMs.active });
  return (
    <Page title="Queues and workers">
      <Section title="Backlog" description="Outstanding batches by marketplace and lane">
        <ListTable
          label="Backlog"
          rows={query.data?.backlog ?? []}
          keyOf={({ market, lane }) => `${market} ${lane}`}
          query={query}
          columns={lanes}
          minWidth={420}
          empty={{
            title: 'No batches are queued',
            description: 'Jobs that wait for approval or for working hours have none yet.',
          }}
        />
      </Section>
      <Section title="Processes" description="Seen in the last minute">
        <ListTable
          label="Processes"
          rows={query.data?.processes ?? []}
          keyOf={({ id }) => id}
          query={query}
          columns={processes}
          minWidth={920}
          empty={{ title: 'No processes', description: 'Start the service with gleaner serve.' }}
        />
      </Section>
    </Page>
  );
}
