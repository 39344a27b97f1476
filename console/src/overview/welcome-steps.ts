import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';

/** Number of jobs from which on an account is no new one. */
const maxNewJobs = 10;

/** A first step of a user, in its order. */
export interface WelcomeStep {
  id: 'example' | 'list' | 'schedule';
  isDone: boolean;
}

/** What a user has done. */
export interface FirstUse {
  /** Latest jobs of the account that is shown. */
  jobs: readonly Pick<Job, 'jobId'>[];
  /** Jobs that were examples, also those of the test account. */
  exampleIds: readonly string[];
  hasSchedule: boolean;
}

/** Returns the first steps of a user; empty if all are done, or if the account has many jobs. */
export function welcomeSteps({ jobs, exampleIds, hasSchedule }: FirstUse): WelcomeStep[] {
  const ownJobs = jobs.filter(({ jobId }) => !exampleIds.includes(jobId));
  const steps: WelcomeStep[] = [
    { id: 'example', isDone: exampleIds.length > 0 || ownJobs.length > 0 },
    { id: 'list', isDone: ownJobs.length > 0 },
    { id: 'schedule', isDone: hasSchedule },
  ];
  const isNew = ownJobs.length < maxNewJobs;
  return isNew && steps.some(({ isDone }) => !isDone) ? steps : [];
}
