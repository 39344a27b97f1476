import type { JobState } from './documents.ts';
import type { Store } from './store.ts';
import { replaceMethods } from './wrap.ts';

/** Properties of a state of a job. */
interface StateInfo {
  /** States that a job can move to. */
  next: readonly JobState[];
  /** `ending`: its batches are done or failed, and its refund and file follow. */
  phase: 'submitting' | 'running' | 'ending' | 'ended';
  /** Statuses by which users see it (src/contract/job-status.ts). */
  statuses: readonly string[];
  /** True if a job of a kind that is charged at approval has been charged, or will be when it is refunded. */
  charged: boolean;
}

const state = (
  phase: StateInfo['phase'],
  statuses: StateInfo['statuses'],
  next: StateInfo['next'],
  charged = true,
): StateInfo => ({ phase, statuses, next, charged });

const results = ['completed', 'partial_complete', 'failed'] as const;

/** The life of a job, in order (docs/jobs.md). */
const jobStates: Readonly<Record<JobState, StateInfo>> = {
  submitted: state('submitting', ['awaiting_approval'], ['awaiting_approval', 'approved', 'discarding']),
  discarding: state('submitting', ['awaiting_approval'], []),
  awaiting_approval: state('running', ['awaiting_approval'], ['approving', 'rejecting', 'discarding'], false),
  approving: state('running', ['awaiting_approval'], ['approved', 'awaiting_approval'], false),
  approved: state('running', ['initializing', 'processing'], ['processing', 'terminating', 'discarding']),
  processing: state('running', ['processing'], ['settling', 'terminating']),
  settling: state('ending', ['processing'], results),
  rejecting: state('ending', ['rejected'], ['rejected'], false),
  terminating: state('ending', ['processing'], ['terminated', ...results]),
  completed: state('ended', ['completed'], []),
  partial_complete: state('ended', ['partial_complete'], []),
  failed: state('ended', ['failed'], []),
  rejected: state('ended', ['rejected'], [], false),
  terminated: state('ended', ['terminated'], []),
};

const statesWhere = (holds: (info: StateInfo) => boolean): readonly JobState[] =>
  (Object.keys(jobStates) as JobState[]).filter((name) => holds(jobStates[name]));

/**
 * States between two that are acknowledged to callers: a job that loses such a move in a power failure makes
 * it again.
 */
export const passingStates: ReadonlySet<JobState> = new Set(['approving', 'processing', 'settling']);

/** States of jobs that have not ended. */
export const openStates = statesWhere(({ phase }) => phase !== 'ended');

/** States of jobs that are ending. */
export const endingStates = statesWhere(({ phase }) => phase === 'ending');

/** States of jobs whose submission is not finished. Their owners cannot see them. */
export const submittingStates = statesWhere(({ phase }) => phase === 'submitting');

/** Returns the states that users see by a status. */
export const statesOf = (status: string) => statesWhere(({ statuses }) => statuses.includes(status));

/** Returns true if a job in a state has been charged, if its kind is charged at approval. */
export const isCharged = (name: JobState) => jobStates[name].charged;

/** Wraps a store to reject moves of jobs that are no part of their life. A job may stay in its state. */
export function refuseOtherMoves(store: Store): Store {
  return replaceMethods(store, {
    jobs: {
      async move(jobId, from, to, at, patch) {
        for (const name of from)
          if (name !== to && !jobStates[name].next.includes(to))
            throw new Error(`a job cannot move from ${name} to ${to}`);
        return store.jobs.move(jobId, from, to, at, patch);
      },
    },
  });
}
