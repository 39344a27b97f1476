import type { Job } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { GleanerClient } from '../../src/client/index.ts';
import type { ChaosWork } from './works.ts';

/** A user of the run. */
export interface ChaosUser {
  id: string;
  granted: number;
  /** Sends each call once. */
  client: GleanerClient;
}

/** What came of one call that creates a job: no answer means that nobody knows whether there is one. */
export type CallOutcome = 'accepted' | 'refused' | 'unanswered';

/** A submit as its client remembers it. */
export interface ChaosSubmit {
  work: ChaosWork;
  user: ChaosUser;
  subjects: readonly string[];
  isKeyed: boolean;
  outcomes: CallOutcome[];
}

/** A job that a client knows. */
export interface KnownJob {
  jobId: string;
  submission: ChaosSubmit;
  /** Submitted subjects in order: of a retry, those that failed. */
  subjects: readonly string[];
  /** The client has its id from an answer; else it was found in the list of jobs. */
  isAcknowledged: boolean;
  /** Outcomes of the calls that retried this job. */
  retries: CallOutcome[];
  retryOf: KnownJob | null;
  /** As it was last seen. */
  job: Job | null;
}

/** Everything that the clients know. */
export interface Books {
  users: readonly ChaosUser[];
  submissions: ChaosSubmit[];
  jobs: Map<string, KnownJob>;
}

/** Sorts of broken invariants: the columns of the table, and the rest. */
export type ProblemSort = 'lost' | 'doubled' | 'mischarged' | 'other';

/** Broken invariants, each reported once. */
export interface Problems {
  add(sort: ProblemSort, text: string): void;
  count(sort: ProblemSort): number;
  list(): string[];
}

/** Creates an empty list of problems. */
export function createProblems(say: (line: string) => void): Problems {
  const found = new Map<string, ProblemSort>();
  return {
    add(sort, text) {
      if (!found.has(text)) say(`BROKEN ${sort}: ${text}`);
      found.set(text, sort);
    },
    count: (sort) => [...found.values()].filter((each) => each === sort).length,
    list: () => [...found].map(([text, sort]) => `${sort}: ${text}`),
  };
}
