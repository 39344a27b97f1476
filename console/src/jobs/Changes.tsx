import { createClient } from '@connectrpc/connect';
import { EmptyState, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { IconChartLine } from '@tabler/icons-react';
import { useState } from 'react';
import {
  type ChangeCounts,
  HistoryService,
  type ItemChange,
} from '../../../gen/gleaner/history/v1/history_pb.ts';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { changesText } from '../../../src/present/item.ts';
import { ExportMenu } from '../ui/actions/ExportMenu.tsx';
import { ItemName, itemPath } from '../ui/ItemName.tsx';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { useList } from '../ui/list/useList.ts';
import { pollMs } from '../ui/queries.ts';
import { saveStream } from '../ui/session/download.ts';
import { transport } from '../ui/session/transport.ts';

const types = [
  { value: '', label: 'All changes' },
  { value: 'new', label: 'New' },
  { value: 'changed', label: 'Changed' },
  { value: 'missing', label: 'Missing' },
  { value: 'back', label: 'Back again' },
];

const columns: ListColumn<ItemChange>[] = [
  { title: 'Change', cell: ({ type }) => <StatusBadge status={type} /> },
  {
    title: 'Item',
    maxWidth: 460,
    cell: (change) => <ItemName item={change} title={change.title} />,
  },
  {
    title: 'Values',
    maxWidth: 600,
    cell: (change) => (change.type === 'new' ? '' : changesText(change)),
  },
];

/** Describes the counts of a comparison. */
function countsText(counts: ChangeCounts | undefined): string {
  const { new: fresh = 0, changed = 0, missing = 0, back = 0, unchanged = 0 } = counts ?? {};
  return (
    `${fresh} new, ${changed} changed, ${missing} missing, ` +
    `${back} back again, ${unchanged} unchanged`
  );
}

const isCompared = (status: string) => status === 'processing' || status === 'done';

/** Returns whether the changes stay as they are. */
const isFinal = (status: string | undefined) =>
  status === 'done' || status === 'discarded' || status === 'skipped';

/** Describes why a job has no changes to show. */
function reasonOf(status: string | undefined): string {
  if (status === 'held') return 'The job is held. Release it to compare it.';
  if (status === 'skipped') return 'The records of the job could not be read.';
  if (status === 'discarded') return 'The results of the job were discarded.';
  return 'The changes appear after the end of the job.';
}

/** Changes of a job compared with the run before, if it is tracked. */
export function Changes({ job: { jobId, options } }: { job: Job }) {
  if (options?.track) return <TrackedChanges jobId={jobId} />;
  return (
    <EmptyState
      icon={<IconChartLine />}
      title="This job is not tracked"
      description='Submit it with "Track changes" to compare it with the run before.'
      py="lg"
    />
  );
}

function TrackedChanges({ jobId }: { jobId: string }) {
  const [type, setType] = useState('');
  const { query, rows, first } = useList(
    HistoryService.method.listChanges,
    { jobId, type },
    (page) => page.changes,
    {
      refetchInterval: ({ state }) =>
        isFinal(state.data?.pages[0]?.status) ? false : pollMs.active,
    },
  );
  return (
    <Stack>
      <Toolbar type={type} select={setType} isDone={first?.status === 'done'} jobId={jobId} />
      {first && isCompared(first.status) && <Text size="sm">{countsText(first.counts)}</Text>}
      <ListTable
        label="Changes"
        rows={rows}
        keyOf={itemPath}
        query={query}
        columns={columns}
        dense
        empty={
          first?.status === 'done'
            ? { title: 'No changes' }
            : { title: 'Not compared', description: reasonOf(first?.status) }
        }
      />
    </Stack>
  );
}

interface ToolbarProps {
  jobId: string;
  /** Selected type of changes; '' for all. */
  type: string;
  select: (type: string) => void;
  isDone: boolean;
}

/** Selection of a type, and download of all changes. */
function Toolbar({ jobId, type, select, isDone }: ToolbarProps) {
  return (
    <Group justify="space-between" align="flex-end">
      <NativeSelect
        label="Show"
        data={types}
        value={type}
        onChange={({ currentTarget }) => select(currentTarget.value)}
      />
      {isDone && (
        <ExportMenu
          label="Download"
          formats={['csv', 'jsonl', 'parquet']}
          save={(format) =>
            saveStream(
              createClient(HistoryService, transport).streamChanges({ jobId, format }),
              `changes-${jobId}.${format}`,
            )
          }
        />
      )}
    </Group>
  );
}
