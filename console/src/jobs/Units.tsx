import { SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { UnitsTable } from './UnitsTable.tsx';

const choices = [
  { value: '', label: 'All' },
  { value: 'PENDING', label: 'Outstanding' },
  { value: 'SUCCESS', label: 'Succeeded' },
];

/** Units of a job, filtered by status. */
export function Units({ job }: { job: Job }) {
  const [status, setStatus] = useState('');
  return (
    <Stack align="stretch">
      <SegmentedControl
        aria-label="Filter by status"
        value={status}
        onChange={setStatus}
        data={[...choices, { value: 'FAILED', label: job.notRun > 0 ? 'Failed or not run' : 'Failed' }]}
        style={{ alignSelf: 'flex-start' }}
      />
      <UnitsTable jobId={job.jobId} status={status} live={!job.ended} />
    </Stack>
  );
}
