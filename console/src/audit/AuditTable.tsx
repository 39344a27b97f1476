import { Badge, Code, Group, Text, Tooltip } from '@mantine/core';
import type { AuditEntry } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { methodText } from '../../../src/present/names.ts';
import { capitalize, shortId } from '../../../src/present/text.ts';
import { Id } from '../ui/Id.tsx';
import { type ListQuery, ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { Moment } from '../ui/time/Moment.tsx';

/** One method suspends and resumes. */
const actionText = (action: string, detail: string): string =>
  action === 'SuspendUser' && detail.includes('"suspended":false')
    ? 'Resume user'
    : methodText(action);

const columns: ListColumn<AuditEntry>[] = [
  { title: 'Time', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  {
    title: 'Who',
    cell: ({ actorName, actorId, role }) =>
      role === 'user' ? (
        <Id of="users" value={actorId} name={actorName} />
      ) : (
        <Tooltip label={`${capitalize(role)} ${actorId}`}>
          <Text span size="sm">
            {actorName || shortId(actorId)}
          </Text>
        </Tooltip>
      ),
  },
  {
    title: 'Action',
    cell: ({ action, detail }) =>
      detail === '' ? (
        actionText(action, detail)
      ) : (
        <Tooltip label={detail} multiline maw={480} style={{ overflowWrap: 'anywhere' }}>
          <Text span size="sm" td="underline dotted">
            {actionText(action, detail)}
          </Text>
        </Tooltip>
      ),
  },
  {
    title: 'On what',
    cell: (entry) => <Target entry={entry} />,
  },
  {
    title: 'Outcome',
    cell: ({ outcome }) => (
      <Badge color={outcome === 'ok' ? 'teal' : 'red'}>
        {outcome === 'ok' ? 'OK' : capitalize(outcome.replaceAll('_', ' '))}
      </Badge>
    ),
  },
  { title: 'From', cell: ({ source }) => <Code>{source}</Code> },
];

/** Pages of what an action was about, by the field of the request that names it. */
const pagesOf = [
  ['job_id', 'jobs'],
  ['user_id', 'users'],
  ['schedule_id', 'schedules'],
] as const;

/** Pages of what an action created. */
const created = [
  [/^CreateUser$/, 'users'],
  [/^CreateSchedule$/, 'schedules'],
  [/^(Submit|Retry)/, 'jobs'],
] as const;

/** What an action was about, linked to its page if it has one. */
function Target({ entry: { action, target, detail } }: { entry: AuditEntry }) {
  if (target === '') return null;
  const page =
    pagesOf.find(([field]) => detail.includes(`"${field}":"${target}"`))?.[1] ??
    created.find(([name]) => name.test(action))?.[1];
  if (page !== undefined && target.length === 36) return <Id of={page} value={target} />;
  return (
    <Tooltip label={target}>
      <Code>{target.length > 12 ? shortId(target) : target}</Code>
    </Tooltip>
  );
}

/** Entry on a narrow screen: the action and its outcome, then who and when. */
function Brief({ entry }: { entry: AuditEntry }) {
  const cell = (title: string) => columns.find((column) => column.title === title)?.cell(entry);
  return (
    <>
      <Group gap="xs" justify="space-between" wrap="nowrap" fz="sm">
        <Group gap="xs">
          <span>{cell('Action')}</span>
          {cell('On what')}
        </Group>
        {cell('Outcome')}
      </Group>
      <Group gap="xs" justify="space-between" fz="xs" c="dimmed">
        {cell('Who')}
        {cell('Time')}
      </Group>
    </>
  );
}

interface AuditTableProps {
  entries: readonly AuditEntry[];
  query: ListQuery;
}

/** Entries of the audit log, newest first. */
export function AuditTable({ entries, query }: AuditTableProps) {
  return (
    <ListTable
      label="Audit log"
      rows={entries}
      keyOf={({ entryId }) => entryId}
      query={query}
      columns={columns}
      minWidth={860}
      brief={(entry) => <Brief entry={entry} />}
      empty={{
        title: 'No matching actions',
        description: 'Change the filters to see other actions.',
      }}
    />
  );
}
