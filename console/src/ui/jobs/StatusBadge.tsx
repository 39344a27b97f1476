import { Badge } from '@mantine/core';
import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import {
  formatJobStatus,
  formatStatus,
  jobTone,
  statusTone,
  type Tone,
} from '../../../../src/present/status.ts';

const colors: Readonly<Record<Tone, string>> = {
  good: 'teal',
  busy: 'blue',
  warning: 'yellow',
  bad: 'red',
  muted: 'gray',
};

/** Status of a batch, unit, schedule, or delivery. */
export function StatusBadge({ status }: { status: string }) {
  return <Badge color={colors[statusTone(status)]}>{formatStatus(status)}</Badge>;
}

/** Status of a job, in other words and another colour if it completed with failed units. */
export function JobBadge({ job }: { job: Pick<Job, 'status' | 'failed'> }) {
  return <Badge color={colors[jobTone(job)]}>{formatJobStatus(job)}</Badge>;
}
