import { useMutation } from '@connectrpc/connect-query';
import { useState } from 'react';
import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { showSuccess } from '../errors/toast.ts';
import { useRefresh } from '../list/useList.ts';

/** Approves and rejects jobs, one or several at once. */
export interface Decisions {
  busy: boolean;
  /** Errors by job, for example insufficient credits. */
  failures: ReadonlyMap<string, unknown>;
  approve(jobs: readonly Job[]): Promise<void>;
  reject(jobs: readonly Job[], reason: string): Promise<void>;
}

/**
 * Creates the approve and reject actions. An error is kept with its job and does not stop the other
 * jobs.
 */
export function useDecisions(): Decisions {
  const approval = useMutation(OperatorService.method.approveJob);
  const rejection = useMutation(OperatorService.method.rejectJob);
  const refresh = useRefresh();
  const [busy, setBusy] = useState(false);
  const [failures, setFailures] = useState<ReadonlyMap<string, unknown>>(new Map());

  const decide = async (
    jobs: readonly Job[],
    verb: string,
    call: (job: Job) => Promise<unknown>,
  ) => {
    setBusy(true);
    const failed = new Map(failures);
    let count = 0;
    // Sequential: each approval charges the balance that the next one needs.
    for (const job of jobs) {
      failed.delete(job.jobId);
      try {
        await call(job);
        count += 1;
      } catch (error) {
        failed.set(job.jobId, error);
      }
    }
    setFailures(failed);
    setBusy(false);
    if (count > 0) showSuccess(count === 1 ? `Job ${verb}.` : `${count} jobs ${verb}.`);
    await refresh();
  };
  return {
    busy,
    failures,
    approve: (jobs) => decide(jobs, 'approved', ({ jobId }) => approval.mutateAsync({ jobId })),
    reject: (jobs, reason) =>
      decide(jobs, 'rejected', ({ jobId }) => rejection.mutateAsync({ jobId, reason })),
  };
}
