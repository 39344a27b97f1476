import { useQuery } from '@connectrpc/connect-query';
import { Badge, Code, Text } from '@mantine/core';
import { OperatorService, type Setting } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { InlineCode } from '../ui/layout/InlineCode.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';

const columns: ListColumn<Setting>[] = [
  { title: 'Name', cell: ({ name }) => <Code>{name}</Code> },
  {
    title: 'Value',
    cell: ({ value }) =>
      value === '' ? (
        <Text span size="sm" c="dimmed">
          Not set
        </Text>
      ) : (
        <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
      ),
  },
  {
    title: 'Source',
    cell: ({ set }) => (
      <Badge color={set ? 'blue' : 'gray'}>{set ? 'Environment' : 'Default'}</Badge>
    ),
  },
  {
    title: 'Description',
    cell: ({ about }) => (
      <Text size="sm">
        <InlineCode text={about} />
      </Text>
    ),
  },
];

/** Current configuration of the process that serves the request. */
export function SettingsPage() {
  const query = useQuery(OperatorService.method.listSettings, {});
  return (
    <Page title="Settings" description="Set by environment variables. Secrets are not shown.">
      <ListTable
        label="Settings"
        rows={query.data?.settings ?? []}
        keyOf={({ name }) => name}
        query={query}
        columns={columns}
        minWidth={760}
        empty={{ title: 'No settings' }}
      />
    </Page>
  );
}
