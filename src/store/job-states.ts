import type { BatchSummary, Outcome } from './batches.ts';
import type { Counts, Job, JobState } from './documents.ts';

/** Properties of a state of a job. */
interface StateInfo {
  /** States that a job can move to. */
  next: readonly JobState[];
  /** `ending`: its batches are done or failed, and its refund and file follow. */
  phase: 'submitting' | 'running' | 'ending' | 'ended';
  /** Status by which users see it (src/contract/job-status.ts), and after an approval. */
  statuses: readonly [status: string, ifDecided?: string];
  /**
   * True if a job of a kind that is charged at approval has been charged, or will be when it is
   * refunded.
   */
  charged: boolean;
  /**
   * What makes a job due. `step`: an interrupted step. `decision`: the deadline of its approval.
   * `check`: batches that a lost event left. `nothing`: it waits for nothing.
   */
  due: 'step' | 'decision' | 'check' | 'nothing';
}

const state = (
  phase: StateInfo['phase'],
  statuses: StateInfo['statuses'],
  next: StateInfo['next'],
  { charged = true, due = phase === 'ended' ? 'nothing' : 'step' }: Partial<StateInfo> = {},
): StateInfo => ({ phase, statuses, next, charged, due });

const results = ['completed', 'partial_complete', 'failed'] as const;

/** The life of a job, in order (docs/jobs.md). */
const jobStates: Readonly<Record<JobState, StateInfo>> = {
  submitted: state(
    'submitting',
    ['awaiting_approval'],
    ['awaiting_approval', 'approved', 'discarding'],
  ),
  discarding: state('submitting', ['awaiting_approval'], []),
  awaiting_approval: state(
    'running',
    ['awaiting_approval'],
    ['approving', 'rejecting', 'discarding'],
    {
      charged: false,
      due: 'decision',
    },
  ),
  approving: state('running', ['awaiting_approval'], ['approved', 'awaiting_approval'], {
    charged: false,
  }),
  approved: state(
    'running',
    ['initializing', 'processing'],
    ['processing', 'terminating', 'discarding'],
    {
      due: 'check',
    },
  ),
  processing: state('running', ['processing'], ['settling', 'terminating'], { due: 'check' }),
  settling: state('ending', ['processing'], results),
  rejecting: state('ending', ['rejected'], ['rejected'], { charged: false }),
  terminating: state('ending', ['processing'], ['terminated', ...results]),
  completed: state('ended', ['completed'], []),
  partial_complete: state('ended', ['partial_complete'], []),
  failed: state('ended', ['failed'], []),
  rejected: state('ended', ['rejected'], [], { charged: false }),
  terminated: state('ended', ['terminated'], []),
};

/** Every state. */
export const jobStateNames = Object.keys(jobStates) as readonly JobState[];

const statesWhere = (holds: (info: StateInfo) => boolean): readonly JobState[] =>
  jobStateNames.filter((name) => holds(jobStates[name]));

/** Returns true if a job may move from one state to another, or stay in it. */
export const canMove = (from: JobState, to: JobState) =>
  from === to || jobStates[from].next.includes(to);

/**
 * States between two that are acknowledged to callers: a job that loses such a move in a power
 * failure makes it again.
 */
export const passingStates: ReadonlySet<JobState> = new Set([
  'approving',
  'processing',
  'settling',
]);

/** Returns the states from which a job may move to another one. */
export const statesBefore = (to: JobState) => statesWhere(({ next }) => next.includes(to));

export const openStates = statesWhere(({ phase }) => phase !== 'ended');

export const endedStates = statesWhere(({ phase }) => phase === 'ended');

export const endingStates = statesWhere(({ phase }) => phase === 'ending');

/** States of jobs whose submission is not finished. Their owners cannot see them. */
export const submittingStates = statesWhere(({ phase }) => phase === 'submitting');

/** States of jobs that the program works on: neither ended nor waiting for a decision. */
export const workingStates = statesWhere(({ due }) => due === 'step' || due === 'check');

/** States of jobs that the sweep checks regularly. */
export const runningStates = statesWhere(({ due }) => due === 'check');

/** States of jobs that are due once: for an interrupted step, or a decision. */
export const steppingStates = statesWhere(({ due }) => due === 'step' || due === 'decision');

/** Time after which an unfinished step counts as interrupted, in milliseconds. */
export const interruptedMs = 30_000;
/**
 * Time from one check of a running job to the next, in milliseconds: shorter than the pause between
 * sweeps, so that every sweep checks it.
 */
export const checkMs = 4_000;

/** Time from now after which no job is due that does not wait for a decision, in milliseconds. */
export const maxDueMs = 2 * interruptedMs;

/** True if a job in a state is due at its `decideBy`. */
export const awaitsDecision = (name: JobState) => jobStates[name].due === 'decision';

/**
 * Returns the time at which a job is due that entered its state at `at`, or null if it waits for
 * nothing.
 */
export function dueOnEntry({ state: name, decideBy }: Pick<Job, 'state' | 'decideBy'>, at: number) {
  const { due } = jobStates[name];
  if (due === 'step') return at + interruptedMs;
  if (due === 'decision') return decideBy === null ? null : Math.max(decideBy, at);
  return due === 'check' ? at : null;
}

/**
 * Returns the status of a job of any kind in the contract's terms. A settling job is shown as
 * processing.
 */
export function jobStatus({ state: name, decidedBy }: Pick<Job, 'state' | 'decidedBy'>): string {
  const { statuses } = jobStates[name];
  return (decidedBy === null ? undefined : statuses[1]) ?? statuses[0];
}

/** Returns the states that users see by a status. */
export const statesOf = (status: string) =>
  statesWhere(({ statuses }) => statuses.includes(status));

/** Returns true if a job in a state has been charged, if its kind is charged at approval. */
export const isCharged = (name: JobState) => jobStates[name].charged;

/** Terminal status of a job or batch (docs/concepts.md). */
export type TerminalStatus = 'completed' | 'partial_complete' | 'failed';

/** Returns the terminal status for the counts of succeeded and failed parts. */
export function aggregate(success: number, failed: number): TerminalStatus {
  if (failed === 0) return 'completed';
  return success === 0 ? 'failed' : 'partial_complete';
}

/** Returns true if a job's submission was accepted. Until then its owner cannot see it. */
export function isAccepted({ state }: Pick<Job, 'state'>): boolean {
  return !submittingStates.includes(state);
}

/**
 * Returns the public status of a job with approval. A job without outstanding batches is terminal,
 * even while its file is being written. A cancelled job has the status of its parts, because the
 * API has no status for it.
 */
export function approvalStatus(job: Job, batches: Counts['batches']): string {
  const status = jobStatus(job);
  if (status !== 'processing' && status !== 'terminated') return status;
  return batches.success + batches.failed < batches.total
    ? 'processing'
    : aggregate(batches.success, batches.failed);
}

/**
 * Returns the same status for kinds without a merged file. The job becomes terminal once its
 * refunds are posted.
 */
export function settledStatus(job: Job, units: Counts['units']): string {
  const settling =
    job.finishedAt === null && (job.state === 'processing' || job.state === 'settling');
  return settling ? 'processing' : approvalStatus(job, units);
}

/** Returns true if the job was rejected. All its batches then count as failed. */
export function isRejected(job: Job): boolean {
  return jobStatus(job) === 'rejected';
}

/** Returns the status of a batch. It is SUCCESS if at least one unit succeeded. */
export function batchStatus(
  batch: Pick<BatchSummary, 'state' | 'success'>,
  job: Job,
): 'PENDING' | 'SUCCESS' | 'FAILED' {
  if (isRejected(job)) return 'FAILED';
  if (batch.state !== 'done') return 'PENDING';
  return batch.success > 0 ? 'SUCCESS' : 'FAILED';
}

export function unitStatus(
  outcome: Outcome | undefined,
  job: Job,
): 'PENDING' | 'SUCCESS' | 'FAILED' {
  if (outcome) return outcome.status;
  return isRejected(job) ? 'FAILED' : 'PENDING';
}
