import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Code, Text } from '@mantine/core';
import type { Unit } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { every } from '../app/queries.ts';
import { type Column, ListTable } from '../list/ListTable.tsx';
import { useSession } from '../session/session.ts';
import { unitMethods } from './methods.ts';
import { StatusBadge } from './StatusBadge.tsx';

/** Why a unit failed, with the code of the fault; nothing for others. */
function Reason({ unit }: { unit: Unit }) {
  if (unit.code === '') return null;
  return (
    <Text size="xs" span>
      <Code>{unit.code}</Code> {unit.message}
    </Text>
  );
}

const columns: Column<Unit>[] = [
  { title: '#', align: 'right', cell: ({ index }) => index + 1 },
  { title: 'Unit', cell: ({ key }) => <span style={{ overflowWrap: 'anywhere' }}>{key}</span> },
  { title: 'Region', cell: ({ region }) => region },
  { title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Reason', cell: (unit) => <Reason unit={unit} /> },
];

const submitted: Column<Unit>[] = [
  ...columns.slice(0, 3),
  { title: 'As submitted', cell: ({ input }) => <Code style={{ overflowWrap: 'anywhere' }}>{input}</Code> },
];

interface UnitsTableProps {
  jobId: string;
  /** Only units of this state; '' for all. */
  status?: string;
  /** Only units with this fault; '' for all. */
  code?: string;
  /** Shows what was submitted instead of what became of it. */
  inputs?: boolean;
  /** Asks again now and then. */
  live?: boolean;
}

/** Units of a job, in the order submitted. */
export function UnitsTable({ jobId, status = '', code = '', inputs = false, live = false }: UnitsTableProps) {
  const { role } = useSession();
  const query = useInfiniteQuery(
    unitMethods(role),
    { jobId, status, code, pageSize: 100, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: live ? every.watching : false,
    },
  );
  return (
    <ListTable
      label="Units"
      rows={query.data?.pages.flatMap(({ units }) => units) ?? []}
      keyOf={({ index }) => String(index)}
      query={query}
      columns={inputs ? submitted : columns}
      minWidth={480}
      empty={{ title: 'No units', about: status === '' ? '' : 'None of this job is in that state.' }}
    />
  );
}
