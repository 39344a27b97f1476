import { useMutation } from '@connectrpc/connect-query';
import { useState } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { tellDone } from '../fault/tell.ts';
import { useRefresh } from '../list/useRefresh.ts';

/** Decisions on jobs that wait, one or several at once. */
export interface Decisions {
  busy: boolean;
  /** What a decision was refused with, by job: a shortfall, say. */
  refusals: ReadonlyMap<string, unknown>;
  approve(jobs: readonly Job[]): Promise<void>;
  reject(jobs: readonly Job[], reason: string): Promise<void>;
}

/** Approves and rejects; a refusal is kept for its job, and keeps none of the others from being decided. */
export function useDecisions(): Decisions {
  const approval = useMutation(OperatorService.method.approveJob);
  const rejection = useMutation(OperatorService.method.rejectJob);
  const refresh = useRefresh();
  const [busy, setBusy] = useState(false);
  const [refusals, setRefusals] = useState<ReadonlyMap<string, unknown>>(new Map());

  const decide = async (jobs: readonly Job[], done: string, call: (job: Job) => Promise<unknown>) => {
    setBusy(true);
    const refused = new Map(refusals);
    let count = 0;
    // One after the other: the next one's balance is what the one before left.
    for (const job of jobs) {
      refused.delete(job.jobId);
      try {
        await call(job);
        count += 1;
      } catch (error) {
        refused.set(job.jobId, error);
      }
    }
    setRefusals(refused);
    setBusy(false);
    if (count > 0) tellDone(count === 1 ? `The job is ${done}.` : `${count} jobs are ${done}.`);
    await refresh();
  };
  return {
    busy,
    refusals,
    approve: (jobs) => decide(jobs, 'approved', ({ jobId }) => approval.mutateAsync({ jobId })),
    reject: (jobs, reason) =>
      decide(jobs, 'rejected', ({ jobId }) => rejection.mutateAsync({ jobId, reason })),
  };
}
