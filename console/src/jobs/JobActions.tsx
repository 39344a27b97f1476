import { useMutation } from '@connectrpc/connect-query';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { modals } from '@mantine/modals';
import { IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { DecisionButtons } from '../approvals/DecisionButtons.tsx';
import { tellDone, tellFault } from '../fault/tell.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { countText } from '../number/text.ts';
import { ReasonModal } from '../reason/ReasonModal.tsx';
import { useSession } from '../session/session.ts';

/** What can be done with a job as it is now. */
export function JobActions({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  return (
    <>
      {operator && job.status === 'awaiting_approval' && <DecisionButtons job={job} />}
      {job.ended && job.failed > 0 && <Retry job={job} />}
      {!job.ended && !(operator && job.status === 'awaiting_approval') && <Cancel job={job} />}
    </>
  );
}

function Retry({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  const navigate = useNavigate();
  const any = useMutation(OperatorService.method.retryJob);
  const own = useMutation(JobService.method.retryJob);
  const run = async () => {
    try {
      const { jobId } = job;
      const made = operator ? (await any.mutateAsync({ jobId })).job : await own.mutateAsync({ jobId });
      tellDone('What failed was submitted again, as a new job.');
      if (made) void navigate(`/jobs/${made.jobId}`);
    } catch (error) {
      tellFault(error);
    }
  };
  const ask = () =>
    modals.openConfirmModal({
      title: 'Submit what failed again?',
      children: `${countText(job.failed)} units become a new job for ${countText(job.failed * job.unitPrice)} credits${operator ? ' of its owner' : ''}.`,
      labels: { confirm: 'Submit again', cancel: 'Not now' },
      onConfirm: () => void run(),
    });
  return (
    <Button
      variant="default"
      leftSection={<IconRefresh size={16} aria-hidden />}
      loading={any.isPending || own.isPending}
      onClick={ask}
    >
      Retry what failed
    </Button>
  );
}

function Cancel({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  const [opened, { open, close }] = useDisclosure();
  const refresh = useRefresh();
  const any = useMutation(OperatorService.method.cancelJob);
  const own = useMutation(JobService.method.cancelJob);
  const run = async (reason: string) => {
    try {
      const { jobId } = job;
      await (operator ? any.mutateAsync({ jobId, reason }) : own.mutateAsync({ jobId }));
      tellDone('The job is stopped; what was not done is given back.');
      close();
      await refresh();
    } catch (error) {
      tellFault(error);
    }
  };
  const button = (
    <Button
      variant="default"
      leftSection={<IconPlayerStop size={16} aria-hidden />}
      loading={any.isPending || own.isPending}
      onClick={
        operator
          ? open
          : () =>
              modals.openConfirmModal({
                title: 'Cancel this job?',
                children: 'What is done is kept. The credits of the rest are given back.',
                labels: { confirm: 'Cancel the job', cancel: 'Go on' },
                confirmProps: { color: 'red' },
                onConfirm: () => void run(''),
              })
      }
    >
      Cancel
    </Button>
  );
  return (
    <>
      {button}
      <ReasonModal
        opened={opened}
        title="Cancel this job?"
        about="What is done is kept. The credits of the rest are given back. The user sees the reason."
        confirm="Cancel the job"
        busy={any.isPending}
        close={close}
        decide={run}
      />
    </>
  );
}
