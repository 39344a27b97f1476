import { useMutation } from '@connectrpc/connect-query';
import { useDisclosure } from '@mantine/hooks';
import { modals } from '@mantine/modals';
import { IconPlayerStop } from '@tabler/icons-react';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { DecisionButtons } from '../approvals/DecisionButtons.tsx';
import { useAttempt } from '../errors/useAttempt.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { ReasonModal } from '../reason/ReasonModal.tsx';
import { useSession } from '../session/session.ts';
import { DeleteFilesButton } from './DeleteFilesButton.tsx';
import { RetryButton } from './RetryButton.tsx';

/** Actions available in the job's current state. */
export function JobActions({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  return (
    <>
      {operator && job.status === 'awaiting_approval' && <DecisionButtons job={job} />}
      {job.ended && job.failed > 0 && <RetryButton job={job} />}
      {!operator && job.ended && !job.filesDeletedAt && job.success > 0 && <DeleteFilesButton job={job} />}
      {!job.ended && !(operator && job.status === 'awaiting_approval') && <Cancel job={job} />}
    </>
  );
}

function Cancel({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  const [opened, { open, close }] = useDisclosure();
  const attempt = useAttempt();
  const operatorMutation = useMutation(OperatorService.method.cancelJob);
  const userMutation = useMutation(JobService.method.cancelJob);
  const { jobId } = job;
  const run = (reason: string) =>
    attempt<unknown>(
      operator ? operatorMutation.mutateAsync({ jobId, reason }) : userMutation.mutateAsync({ jobId }),
      () => {
        close();
        return 'Job cancelled. Outstanding units are refunded.';
      },
    );
  const button = (
    <CallButton
      call={operator ? OperatorService.method.cancelJob : JobService.method.cancelJob}
      variant="default"
      leftSection={<IconPlayerStop size={16} aria-hidden />}
      loading={operatorMutation.isPending || userMutation.isPending}
      onClick={
        operator
          ? open
          : () =>
              modals.openConfirmModal({
                title: 'Cancel this job?',
                children: 'Results so far are kept. Outstanding units are refunded.',
                labels: { confirm: 'Cancel job', cancel: 'Back' },
                confirmProps: { color: 'red' },
                onConfirm: () => void run(''),
              })
      }
    >
      Cancel job
    </CallButton>
  );
  return (
    <>
      {button}
      <ReasonModal
        opened={opened}
        title="Cancel this job?"
        description="Results so far are kept. Outstanding units are refunded. The user sees the reason."
        confirm="Cancel job"
        busy={operatorMutation.isPending}
        close={close}
        onConfirm={run}
      />
    </>
  );
}
