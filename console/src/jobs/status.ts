import { capitalize } from '../text/capitalize.ts';

export { jobStatuses as statuses } from '../../../src/contract/job-status.ts';

const colors: Record<string, string> = {
  awaiting_approval: 'yellow',
  initializing: 'blue',
  processing: 'blue',
  completed: 'teal',
  partial_complete: 'orange',
  failed: 'red',
  PENDING: 'blue',
  SUCCESS: 'teal',
  FAILED: 'red',
  NOT_RUN: 'gray',
  waiting: 'gray',
  queued: 'yellow',
  claimed: 'blue',
  done: 'teal',
  pending: 'blue',
  delivered: 'teal',
  active: 'teal',
  running: 'blue',
  paused: 'yellow',
  rejected: 'red',
  not_submitted: 'red',
  new: 'teal',
  changed: 'blue',
  missing: 'orange',
  back: 'teal',
  enabled: 'teal',
};

/** Returns the colour of a status of a job, batch, unit or delivery. */
export const statusColor = (status: string): string => colors[status] ?? 'gray';

/** Formats a status: "Awaiting approval". */
export const formatStatus = (status: string): string => capitalize(status.replaceAll('_', ' ').toLowerCase());
