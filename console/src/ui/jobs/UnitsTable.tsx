import { Code, Text } from '@mantine/core';
import { JobService, type Unit } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { unitStatus } from '../../../../src/present/job.ts';
import { ListTable } from '../list/ListTable.tsx';
import type { ListColumn } from '../list/list-content.ts';
import { useList } from '../list/useList.ts';
import { pollMs } from '../queries.ts';
import { StatusBadge } from './StatusBadge.tsx';

/** Error code and reason of a failed unit. */
const Reason = ({ unit: { code, message } }: { unit: Unit }) => (
  <Text size="xs" span>
    <Code>{code}</Code> {message}
  </Text>
);

const columns: ListColumn<Unit>[] = [
  { title: '#', align: 'right', cell: ({ index }) => index + 1 },
  { title: 'Unit', cell: ({ key }) => <span style={{ overflowWrap: 'anywhere' }}>{key}</span> },
  { title: 'Region', cell: ({ region }) => region },
  { title: 'Status', cell: (unit) => <StatusBadge status={unitStatus(unit)} /> },
  { title: 'Reason', cell: (unit) => unit.code !== '' && <Reason unit={unit} /> },
];

const inputColumns: ListColumn<Unit>[] = [
  ...columns.slice(0, 3),
  {
    title: 'Input',
    cell: ({ input }) => <Code style={{ overflowWrap: 'anywhere' }}>{input}</Code>,
  },
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
export function UnitsTable({
  jobId,
  status = '',
  code = '',
  inputs = false,
  live = false,
}: UnitsTableProps) {
  const { query, rows } = useList(
    JobService.method.listUnits,
    { jobId, status, code, pageSize: 100 },
    (page) => page.units,
    { refetchInterval: live ? pollMs.list : false },
  );
  return (
    <ListTable
      label="Units"
      rows={rows}
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
