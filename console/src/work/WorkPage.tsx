import { useQuery } from '@connectrpc/connect-query';
import { Code } from '@mantine/core';
import { type Backlog, OperatorService, type Process } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { type Column, ListTable } from '../list/ListTable.tsx';
import { bytesText, countText } from '../number/text.ts';
import { marketText } from '../offers/offers.ts';
import { Moment } from '../time/Moment.tsx';

const lanes: Column<Backlog>[] = [
  { title: 'Marketplace', cell: ({ market }) => marketText(market) },
  { title: 'Lane', cell: ({ lane }) => lane },
  { title: 'Batches waiting', align: 'right', cell: ({ queued }) => countText(queued) },
  { title: 'Batches with a worker', align: 'right', cell: ({ claimed }) => countText(claimed) },
];

const processes: Column<Process>[] = [
  { title: 'Role', cell: ({ role }) => role },
  {
    title: 'Machine',
    cell: ({ host, pid }) => (
      <>
        {host} <Code>{pid}</Code>
      </>
    ),
  },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Started', cell: ({ startedAt }) => <Moment at={startedAt} relative /> },
  { title: 'Last heard of', cell: ({ seenAt }) => <Moment at={seenAt} relative /> },
  { title: 'Workers', align: 'right', cell: ({ workers }) => countText(workers) },
  { title: 'Memory', align: 'right', cell: ({ memoryBytes }) => bytesText(memoryBytes) },
  { title: 'Batches now', align: 'right', cell: ({ batches }) => countText(batches) },
  { title: 'Status', cell: ({ paused }) => (paused === '' ? 'Running' : `Paused: ${paused}`) },
  { title: 'Units done', align: 'right', cell: ({ unitsDone }) => countText(unitsDone) },
  {
    title: 'Clock skew',
    align: 'right',
    cell: ({ clockSkewMs }) => `${(Number(clockSkewMs) / 1000).toFixed(1)} s`,
  },
];

/** What is queued, and which processes work on it. */
export function WorkPage() {
  const query = useQuery(OperatorService.method.getWork, {}, { refetchInterval: every.running });
  return (
    <Page title="Queues and workers">
      <Section title="Backlog" about="Batches outstanding, by marketplace and lane.">
        <ListTable
          label="Backlog"
          rows={query.data?.backlog ?? []}
          keyOf={({ market, lane }) => `${market} ${lane}`}
          query={query}
          columns={lanes}
          minWidth={420}
          empty={{ title: 'Nothing is queued', about: 'All that was handed out is done.' }}
        />
      </Section>
      <Section title="Processes" about="Those that have said something of themselves in the last minute.">
        <ListTable
          label="Processes"
          rows={query.data?.processes ?? []}
          keyOf={({ id }) => id}
          query={query}
          columns={processes}
          minWidth={920}
          empty={{ title: 'No process has said anything of itself' }}
        />
      </Section>
    </Page>
  );
}
