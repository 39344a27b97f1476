import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Code, Text } from '@mantine/core';
import type { Unit } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { useSession } from '../session/session.ts';
import { listUnitsMethod } from './methods.ts';
import { unitStatus } from './outcome.ts';
import { StatusBadge } from './StatusBadge.tsx';

/** Error code and reason of a failed unit. */
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
  { title: 'Status', cell: (unit) => <StatusBadge status={unitStatus(unit)} /> },
  { title: 'Reason', cell: (unit) => <Reason unit={unit} /> },
];

const inputColumns: Column<Unit>[] = [
  ...columns.slice(0, 3),
  { title: 'Input', cell: ({ input }) => <Code style={{ overflowWrap: 'anywhere' }}>{input}</Code> },
];

interface UnitsTableProps {
  jobId: string;
  /** Only units in this state; '' for all. */
  status?: string;
  /** Only units with this error code; '' for all. */
  code?: string;
  /** Shows the submitted input instead of the status. */
  inputs?: boolean;
  /** Polls for changes. */
  live?: boolean;
}

/** Units of a job in submission order. */
export function UnitsTable({ jobId, status = '', code = '', inputs = false, live = false }: UnitsTableProps) {
  const { role } = useSession();
  const query = useInfiniteQuery(
    listUnitsMethod(role),
    { jobId, status, code, pageSize: 100, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: live ? pollMs.list : false,
    },
  );
  return (
    <ListTable
      label="Units"
      rows={query.data?.pages.flatMap(({ units }) => units) ?? []}
      keyOf={({ index }) => String(index)}
      query={query}
      columns={inputs ? inputColumns : columns}
      minWidth={480}
      empty={{
        title: 'No units',
        description: status === '' ? undefined : 'No unit of this job has this status.',
      }}
    />
  );
}
