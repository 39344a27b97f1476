import { SegmentedControl, Stack, Text } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import type { Job, RecordEntry } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { formatCount } from '../../../../src/present/text.ts';
import { useEver } from '../../ui/layout/useEver.ts';
import { ListTable, type ListTableProps } from '../../ui/list/ListTable.tsx';
import { useLoading } from '../../ui/queries.ts';
import { RecordBrief, RecordCard, type RecordColumn, recordColumns } from './columns.tsx';
import { FieldChooser } from './FieldChooser.tsx';
import { FilterBar } from './FilterBar.tsx';
import { InvalidRecords } from './InvalidRecords.tsx';
import { isWhole, noneYet } from './query.ts';
import { type RecordView, useOpenRecord, useRecords, useRecordView } from './record-queries.ts';

const RecordDrawer = lazy(async () => ({
  default: (await import('./RecordDrawer.tsx')).RecordDrawer,
}));

/** Returns the key of a record, which its address contains: "3.0". */
const keyOf = ({ unitIndex, position }: RecordEntry) => `${unitIndex}.${position}`;

const noMatches = {
  title: 'No matching records',
  description: 'Change the filters to see others.',
};

/**
 * Records of a job and its failed units, sorted and filtered by the service. `below` follows once
 * they have loaded, so that it does not move.
 */
export function Explorer({ job, below }: { job: Job; below?: ReactNode }) {
  const { jobId, ended } = job;
  const [view, change] = useRecordView();
  const [opened, openKey] = useOpenRecord();
  const open = (entry: RecordEntry) => openKey(keyOf(entry));
  const { sort, fields } = view;
  const { query, rows: entries, first } = useRecords(job);
  const isLoading = useLoading(query);
  // The order alone has no matches: the units of the job are counted beside its status.
  const total = isWhole(view) ? undefined : first?.total;
  const sorted = sortedField(sort);
  const onPicture = usePictures(entries.filter(({ item }) => item?.imagePath).length);
  const columns = recordColumns({
    entries,
    fields,
    sorted,
    open,
    onPicture,
  });
  return (
    <Stack gap="xs">
      <FilterBar filter={view} change={change} fields={fields} failedLabel={failedLabel(job)}>
        <LayoutSwitch layout={view.layout} change={change} />
        <FieldChooser
          jobId={jobId}
          chosen={fields}
          choose={(chosen) => change({ fields: chosen })}
        />
        <Text size="sm" c="dimmed" role="status">
          {total === undefined ? '' : `${formatCount(total)} found`}
        </Text>
      </FilterBar>
      <ListTable
        label="Records"
        rows={entries}
        keyOf={keyOf}
        query={query}
        columns={columns}
        dense
        grid={
          view.layout === 'cards' ? (entry) => <RecordCard entry={entry} open={open} /> : undefined
        }
        brief={(entry) => <RecordBrief entry={entry} open={open} />}
        order={recordOrder(columns, sort, change)}
        empty={ended || !isWhole(view) ? noMatches : noneYet}
      />
      {!isLoading && (
        <>
          <InvalidRecords jobId={jobId} ended={ended} />
          {below}
        </>
      )}
      <OpenRecord job={job} opened={opened} entries={entries} close={() => openKey(null)} />
    </Stack>
  );
}

interface OpenRecordProps {
  job: Job;
  /** Key of the record; null if none is open. */
  opened: string | null;
  entries: readonly RecordEntry[];
  close: () => void;
}

/** Drawer of the record that is open, mounted with its first use. */
function OpenRecord({ entries, ...properties }: OpenRecordProps) {
  const { opened } = properties;
  if (!useEver(opened !== null)) return null;
  return (
    <Suspense>
      <RecordDrawer {...properties} entry={entries.find((entry) => keyOf(entry) === opened)} />
    </Suspense>
  );
}

/** Returns the name of the field that records are sorted by. */
const sortedField = (sort: string) => sort.replace(/^-/, '');

/** Returns the order of the records by the titles of their columns. */
function recordOrder(
  columns: readonly RecordColumn[],
  sort: string,
  change: (part: Pick<RecordView, 'sort'>) => void,
): NonNullable<ListTableProps<RecordEntry>['order']> {
  const title = columns.find(({ name }) => name === sortedField(sort))?.title;
  return {
    sort: title === undefined ? null : { title, descending: sort.startsWith('-') },
    change: (next) => {
      const column = columns.find((each) => each.title === next?.title);
      change({ sort: column ? `${next?.descending ? '-' : ''}${column.name}` : '' });
    },
  };
}

function failedLabel({ notRun, failed }: Job): string {
  if (notRun === 0) return 'Failed';
  return notRun < failed ? 'Failed or not run' : 'Not run';
}

/** Pictures that fail before the column that shows them is hidden, if none was loaded. */
const maxFailures = 3;

/**
 * Returns a function to call when a picture was loaded or failed; undefined once `count` pictures,
 * or several, have failed and none was loaded.
 */
function usePictures(count: number): ((isLoaded: boolean) => void) | undefined {
  const ends = useRef({ loaded: 0, failed: 0 });
  const [isHidden, setHidden] = useState(false);
  const onPicture = (isLoaded: boolean) => {
    ends.current[isLoaded ? 'loaded' : 'failed'] += 1;
    const { loaded, failed } = ends.current;
    if (loaded === 0 && failed >= Math.min(count, maxFailures)) setHidden(true);
  };
  return isHidden ? undefined : onPicture;
}

interface LayoutSwitchProps {
  layout: RecordView['layout'];
  change: (part: Pick<RecordView, 'layout'>) => void;
}

/** Switch between the table and the cards. */
function LayoutSwitch({ layout, change }: LayoutSwitchProps) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="Show as"
      value={layout}
      data={[
        { value: 'table', label: 'Table' },
        { value: 'cards', label: 'Cards' },
      ]}
      onChange={(next) => change({ layout: next === 'cards' ? 'cards' : 'table' })}
    />
  );
}
