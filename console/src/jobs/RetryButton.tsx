import { useMutation, useQuery } from '@connectrpc/connect-query';
import { modals } from '@mantine/modals';
import { IconRefresh } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { isFinalFailure } from '../../../src/contract/final-failure.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { formatCount, formatUnits } from '../number/format.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { useSession } from '../session/session.ts';
import { listFaultsMethod } from './methods.ts';

/** Button that submits the failed units of an ended job again; absent if every failure is final. */
export function RetryButton({ job }: { job: Job }) {
  const { role } = useSession();
  const { data } = useQuery(listFaultsMethod(role), { jobId: job.jobId });
  const { retry, busy } = useRetry(job);
  const units = (data?.faults ?? [])
    .filter(({ code }) => !isFinalFailure(code))
    .reduce((sum, group) => sum + group.units, 0);
  if (units === 0) return null;
  const isNotRun = job.failed === job.notRun;
  const leftOut = job.failed - units;
  const confirm = () =>
    modals.openConfirmModal({
      title: isNotRun ? 'Resubmit units?' : 'Retry failed units?',
      children: [
        `This creates a new job with the ${formatUnits(units)} that ${isNotRun ? 'did not run' : 'failed'},`,
        `for ${formatCount(units * job.unitPrice)} credits${role === 'operator' ? ', charged to its owner' : ''}.`,
        leftOut > 0
          ? `${formatUnits(leftOut)} would fail again and ${leftOut === 1 ? 'is' : 'are'} left out.`
          : '',
      ].join(' '),
      labels: { confirm: isNotRun ? 'Resubmit' : 'Retry', cancel: 'Back' },
      onConfirm: () => void retry(),
    });
  return (
    <CallButton
      call={role === 'operator' ? OperatorService.method.retryJob : JobService.method.retryJob}
      variant="default"
      leftSection={<IconRefresh size={16} aria-hidden />}
      loading={busy}
      onClick={confirm}
    >
      {isNotRun ? 'Resubmit units' : 'Retry failed units'}
    </CallButton>
  );
}

/** Returns the action that retries a job and opens the new one. */
function useRetry({ jobId }: Job) {
  const { role } = useSession();
  const navigate = useNavigate();
  const attempt = useAttempt();
  const operatorMutation = useMutation(OperatorService.method.retryJob);
  const userMutation = useMutation(JobService.method.retryJob);
  const create = async () =>
    role === 'operator'
      ? (await operatorMutation.mutateAsync({ jobId })).job
      : await userMutation.mutateAsync({ jobId });
  const retry = () =>
    attempt(create(), (created) => {
      if (created) void navigate(`/jobs/${created.jobId}`);
      return 'New job created.';
    });
  return { retry, busy: operatorMutation.isPending || userMutation.isPending };
}
