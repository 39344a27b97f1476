import { useQuery } from '@connectrpc/connect-query';
import { Code } from '@mantine/core';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { type Batch, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { shortId } from '../../../src/present/text.ts';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { pollMs } from '../ui/queries.ts';
import { Moment } from '../ui/time/Moment.tsx';

const columns: ListColumn<Batch>[] = [
  { title: '#', align: 'right', cell: ({ seq }) => seq + 1 },
  { title: 'Batch', cell: ({ batchId }) => <Code>{shortId(batchId)}</Code> },
  { title: 'Region', cell: ({ region }) => region },
  { title: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
  { title: 'Attempts', align: 'right', cell: ({ attempt }) => attempt },
  { title: 'Succeeded', align: 'right', cell: ({ success }) => success },
  { title: 'Failed', align: 'right', cell: ({ failed }) => failed },
  { title: 'Units', align: 'right', cell: ({ total }) => total },
  { title: 'Delayed until', cell: ({ notBefore }) => <Moment at={notBefore} none="" /> },
  { title: 'Ended', cell: ({ endedAt }) => <Moment at={endedAt} /> },
];

/** Batches of a job with their state and attempts. For operators. */
export function Batches({ job }: { job: Job }) {
  const query = useQuery(
    OperatorService.method.listBatches,
    { jobId: job.jobId },
    { refetchInterval: job.ended ? false : pollMs.active },
  );
  return (
    <ListTable
      label="Batches"
      rows={query.data?.batches ?? []}
      keyOf={({ batchId }) => batchId}
      query={query}
      columns={columns}
      minWidth={760}
      empty={{ title: 'No batches', description: 'Batches are created when the job starts.' }}
    />
  );
}
