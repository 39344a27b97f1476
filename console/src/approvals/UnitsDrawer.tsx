import { Drawer } from '@mantine/core';
import { useRef } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { UnitsTable } from '../jobs/UnitsTable.tsx';
import { countText } from '../number/text.ts';
import { kindText } from '../offers/offers.ts';

/** Shows what is inside of a job before it is decided on; null closes it. */
export function UnitsDrawer({ job, close }: { job: Job | null; close: () => void }) {
  // Kept while the drawer closes.
  const last = useRef(job);
  if (job) last.current = job;
  const shown = job ?? last.current;
  return (
    <Drawer
      opened={job !== null}
      onClose={close}
      position="right"
      size="xl"
      title={
        shown
          ? `${kindText(shown.kind)}: ${shown.total === 1 ? '1 unit' : `${countText(shown.total)} units`} of ${shown.userName}`
          : ''
      }
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {shown && <UnitsTable jobId={shown.jobId} inputs />}
    </Drawer>
  );
}
