import type { GleanerClient } from '../../clients/typescript/index.ts';
import type { Job } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { ChaosWork } from './works.ts';

/** A user of the run. */
export interface ChaosUser {
  id: string;
  granted: number;
  /** Sends each call once. */
  client: GleanerClient;
}

/**
 * Outcome of a call that creates a job. Without a reply, the client does not know whether the job
 * exists.
 */
export type CallOutcome = 'accepted' | 'refused' | 'unanswered';

/** A submission, as its client knows it. */
export interface ChaosSubmit {
  work: ChaosWork;
  user: ChaosUser;
  subjects: readonly string[];
  isKeyed: boolean;
  outcomes: CallOutcome[];
}

/** A job, as its client knows it. */
export interface KnownJob {
  jobId: string;
  submission: ChaosSubmit;
  /** Submitted subjects in order. For a retry, the failed ones. */
  subjects: readonly string[];
  /** True if a reply contained its id; false if it was found in the list of jobs. */
  isAcknowledged: boolean;
  /** Outcomes of the calls that retried this job. */
  retries: CallOutcome[];
  retryOf: KnownJob | null;
  /** Last observed state. */
  job: Job | null;
}

/** Everything the clients know. */
export interface Books {
  users: readonly ChaosUser[];
  submissions: ChaosSubmit[];
  jobs: Map<string, KnownJob>;
}

/** Categories of broken invariants: the columns of the table, and `other`. */
export type ProblemCategory = 'lost' | 'duplicated' | 'mischarged' | 'other';

/** Broken invariants, each reported once. */
export interface Problems {
  add(category: ProblemCategory, text: string): void;
  count(category: ProblemCategory): number;
  list(): string[];
}

/** Creates an empty list of problems. */
export function createProblems(print: (line: string) => void): Problems {
  const found = new Map<string, ProblemCategory>();
  return {
    add(category, text) {
      if (!found.has(text)) print(`BROKEN ${category}: ${text}`);
      found.set(text, category);
    },
    count: (category) => [...found.values()].filter((each) => each === category).length,
    list: () => [...found].map(([text, category]) => `${category}: ${text}`),
  };
}
