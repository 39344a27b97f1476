import { Drawer, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Job, RecordEntry } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { formatCount } from '../../../../src/present/text.ts';
import { ListTable } from '../../ui/list/ListTable.tsx';
import { entryTitle, RecordBrief, recordColumns } from './columns.tsx';
import { FieldChooser } from './FieldChooser.tsx';
import { FilterBar } from './FilterBar.tsx';
import { InvalidRecords } from './InvalidRecords.tsx';
import { isWhole, noneYet } from './query.ts';
import { useRecords, useRecordView } from './record-queries.ts';
import { WholeRecord } from './WholeRecord.tsx';

const noMatches = { title: 'No matching records', description: 'Change the filters to see others.' };

/**
 * Records of a job and its failed units, sorted and filtered by the service. `below` follows once they have
 * loaded, so that it does not move.
 */
export function Explorer({ job, below }: { job: Job; below?: ReactNode }) {
  const { jobId, ended } = job;
  const [view, change] = useRecordView();
  const [opened, open] = useState<RecordEntry | null>(null);
  const { sort, fields } = view;
  const { query, rows: entries, first } = useRecords(job);
  const total = first?.total;
  const sorted = sort.replace(/^-/, '');
  const columns = recordColumns({ entries, fields, sorted, open });
  const sortTitle = columns.find(({ name }) => name === sorted)?.title;
  return (
    <Stack gap="xs">
      <FilterBar
        filter={view}
        change={change}
        fields={fields}
        failedLabel={job.notRun === 0 ? 'Failed' : job.notRun < job.failed ? 'Failed or not run' : 'Not run'}
      >
        <FieldChooser jobId={jobId} chosen={fields} choose={(chosen) => change({ fields: chosen })} />
        <Text size="sm" c="dimmed" role="status">
          {total === undefined ? '' : `${formatCount(total)} found`}
        </Text>
      </FilterBar>
      <ListTable
        label="Records"
        rows={entries}
        keyOf={({ unitIndex, position }) => `${unitIndex}.${position}`}
        query={query}
        columns={columns}
        dense
        brief={(entry) => <RecordBrief entry={entry} open={open} />}
        order={{
          sort: sortTitle === undefined ? null : { title: sortTitle, descending: sort.startsWith('-') },
          change: (next) => {
            const column = columns.find(({ title }) => title === next?.title);
            change({ sort: column ? `${next?.descending ? '-' : ''}${column.name}` : '' });
          },
        }}
        empty={ended || !isWhole(view) ? noMatches : noneYet}
      />
      {!query.isPending && (
        <>
          <InvalidRecords jobId={jobId} ended={ended} />
          {below}
        </>
      )}
      <RecordDrawer jobId={jobId} entry={opened} close={() => open(null)} />
    </Stack>
  );
}

interface RecordDrawerProps {
  jobId: string;
  /** Entry whose whole record is shown; null closes the drawer. */
  entry: RecordEntry | null;
  close: () => void;
}

function RecordDrawer({ jobId, entry, close }: RecordDrawerProps) {
  return (
    <Drawer
      opened={entry !== null}
      onClose={close}
      position="right"
      size="lg"
      title={entry === null ? '' : entryTitle(entry)}
      closeButtonProps={{ 'aria-label': 'Close record' }}
    >
      {entry !== null && <WholeRecord jobId={jobId} unitIndex={entry.unitIndex} position={entry.position} />}
    </Drawer>
  );
}
