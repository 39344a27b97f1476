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
  waiting: 'gray',
  queued: 'yellow',
  claimed: 'blue',
  done: 'teal',
  pending: 'blue',
  delivered: 'teal',
};

/** Colour of a state of a job, a batch, a unit or a message. */
export const colorOf = (status: string): string => colors[status] ?? 'gray';

/** A state in words: "awaiting approval". */
export const statusText = (status: string): string => status.replaceAll('_', ' ').toLowerCase();
