import { Drawer, Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { Job, RecordEntry } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { useMountedOpen } from '../../ui/layout/useMountedOpen.ts';
import { entryTitle } from './columns.tsx';

const WholeRecord = lazy(async () => ({
  default: (await import('./WholeRecord.tsx')).WholeRecord,
}));

interface RecordDrawerProps {
  job: Job;
  /** Key of the record; null closes the drawer. */
  opened: string | null;
  /** The record in the list, if it has been loaded. */
  entry: RecordEntry | undefined;
  close: () => void;
}

/** A whole record beside the list. A file of its own, because it is loaded with its first use. */
export function RecordDrawer({ job, opened, entry, close }: RecordDrawerProps) {
  const [unitIndex = 0, position = 0] = (opened ?? '').split('.').map(Number);
  const isOpen = useMountedOpen(opened !== null);
  return (
    <Drawer
      opened={isOpen}
      onClose={close}
      position="right"
      size="xl"
      title={entry === undefined ? 'Record' : entryTitle(entry)}
      closeButtonProps={{ 'aria-label': 'Close record' }}
    >
      {opened !== null && (
        <Suspense fallback={<Skeleton height={240} role="status" aria-label="Loading record" />}>
          <WholeRecord job={job} unitIndex={unitIndex} position={position} />
        </Suspense>
      )}
    </Drawer>
  );
}
