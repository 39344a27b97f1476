import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Drawer, Group, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import type { Job, RecordEntry } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { pollMs } from '../app/queries.ts';
import { listRecordsMethod } from '../jobs/methods.ts';
import { ListTable } from '../list/ListTable.tsx';
import type { Sort } from '../list/sort.ts';
import { formatCount } from '../number/format.ts';
import { useSession } from '../session/session.ts';
import { entryTitle, recordColumns } from './columns.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { FieldChooser } from './FieldChooser.tsx';
import { FilterBar } from './FilterBar.tsx';
import { InvalidRecords } from './InvalidRecords.tsx';
import { emptyRecordFilter, type RecordFilter } from './query.ts';
import { recordQueryOptions } from './record-queries.ts';
import { WholeRecord } from './WholeRecord.tsx';

/** Time that a search waits for further input, in milliseconds. */
const searchDelayMs = 300;

/** Records of a job and its failed units, sorted and filtered by the service. */
export function Explorer({ job: { jobId, ended } }: { job: Job }) {
  const { role } = useSession();
  const [filter, setFilter] = useState(emptyRecordFilter);
  const [sort, setSort] = useState<Sort | null>(null);
  const [fields, setFields] = useState<readonly string[]>([]);
  const [opened, open] = useState<RecordEntry | null>(null);
  const [search] = useDebouncedValue(filter.search, searchDelayMs);
  const pictures = { pictures: false, open };
  const names = new Map(recordColumns(fields, pictures).map(({ title, name }) => [title, name]));
  const order = sort === null ? '' : `${sort.descending ? '-' : ''}${names.get(sort.title)}`;
  const applied: RecordFilter = { ...filter, search, sort: order };
  const query = useInfiniteQuery(
    listRecordsMethod(role),
    {
      ...{ jobId, search, filter: [...filter.conditions], status: filter.status, sort: order },
      // The drawer requests the whole record.
      column: fields.length === 0 ? ['unit_index'] : [...fields],
      pageSize: 50,
      pageToken: '',
    },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      ...recordQueryOptions(role, ended ? false : pollMs.list),
      placeholderData: keepPreviousData,
    },
  );
  const entries = query.data?.pages.flatMap(({ records }) => records) ?? [];
  const total = query.data?.pages[0]?.total;
  const hasPictures = entries.some(({ item }) => Boolean(item?.imagePath));
  return (
    <Stack>
      <FilterBar filter={filter} change={(part) => setFilter({ ...filter, ...part })} fields={fields} />
      <Group gap="sm">
        <FieldChooser jobId={jobId} chosen={fields} choose={setFields} />
        <ExportMenu jobId={jobId} filter={applied} />
        <Text size="sm" c="dimmed" role="status">
          {total === undefined ? '' : `${formatCount(total)} found`}
        </Text>
        <InvalidRecords jobId={jobId} ended={ended} />
      </Group>
      <ListTable
        label="Records"
        rows={entries}
        keyOf={({ unitIndex, position }) => `${unitIndex}.${position}`}
        query={query}
        columns={recordColumns(fields, { pictures: hasPictures, open })}
        order={{ sort, change: setSort }}
        empty={{ title: 'No matching records', description: 'Change the filters to see others.' }}
      />
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

/** Drawer with a whole record. */
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
