import { Drawer } from '@mantine/core';
import type { RecordEntry } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { entryTitle } from './columns.tsx';
import { WholeRecord } from './WholeRecord.tsx';

interface RecordDrawerProps {
  jobId: string;
  /** Entry whose whole record is shown; null closes the drawer. */
  entry: RecordEntry | null;
  close: () => void;
}

/** Drawer with a whole record. */
export function RecordDrawer({ jobId, entry, close }: RecordDrawerProps) {
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
