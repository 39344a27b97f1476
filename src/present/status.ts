import { capitalize } from './text.ts';

/** What a status means to its reader; each front end has a colour for it. */
export type Tone = 'good' | 'busy' | 'warning' | 'bad' | 'muted';

const tones: Readonly<Record<string, Tone>> = {
  awaiting_approval: 'warning',
  initializing: 'busy',
  processing: 'busy',
  completed: 'good',
  partial_complete: 'warning',
  failed: 'bad',
  PENDING: 'busy',
  SUCCESS: 'good',
  FAILED: 'bad',
  queued: 'warning',
  claimed: 'busy',
  done: 'good',
  pending: 'busy',
  delivered: 'good',
  active: 'good',
  running: 'busy',
  paused: 'warning',
  rejected: 'bad',
  terminated: 'bad',
  not_submitted: 'bad',
  new: 'good',
  changed: 'busy',
  missing: 'warning',
  back: 'good',
  enabled: 'good',
  suspended: 'bad',
};

/** Returns the tone of a status of a job, batch, unit, schedule, or delivery. */
export const statusTone = (status: string): Tone => tones[status] ?? 'muted';

type JobResult = { status: string; failed: number };

/** Returns true for a completed job with failed units, which variant jobs may have. */
const hasFailures = ({ status, failed }: JobResult): boolean =>
  status === 'completed' && failed > 0;

/** Returns the tone of a job: a completed one with failed units needs a look. */
export function jobTone(job: JobResult): Tone {
  if (hasFailures(job)) return 'warning';
  return statusTone(job.status);
}

/** Formats the status of a job. */
export function formatJobStatus(job: JobResult): string {
  if (hasFailures(job)) return 'Completed with failures';
  return formatStatus(job.status);
}

/** Formats a status: "Awaiting approval". */
export const formatStatus = (status: string): string =>
  status === 'partial_complete'
    ? 'Partly complete'
    : capitalize(status.replaceAll('_', ' ').toLowerCase());
