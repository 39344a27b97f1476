import { Drawer } from '@mantine/core';
import { useRef } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { UnitsTable } from '../jobs/UnitsTable.tsx';
import { formatUnits } from '../number/format.ts';
import { kindText } from '../offers/offers.ts';

/** Drawer with the units of a job; null closes it. */
export function UnitsDrawer({ job, close }: { job: Job | null; close: () => void }) {
  // Keeps the content visible while the drawer closes.
  const last = useRef(job);
  if (job) last.current = job;
  const shown = job ?? last.current;
  return (
    <Drawer
      opened={job !== null}
      onClose={close}
      position="right"
      size="xl"
      title={shown ? `${kindText(shown.kind)}: ${formatUnits(shown.total)} by ${shown.userName}` : ''}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {shown && <UnitsTable jobId={shown.jobId} inputs />}
    </Drawer>
  );
}
