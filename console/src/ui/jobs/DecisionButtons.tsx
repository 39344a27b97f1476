import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { showError } from '../errors/toast.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { ReasonModal } from '../reason/ReasonModal.tsx';
import { useDecisions } from './useDecisions.ts';

/** Buttons that approve or reject one job. */
export function DecisionButtons({ job }: { job: Job }) {
  const { busy, failures, approve, reject } = useDecisions();
  const [opened, { open, close }] = useDisclosure();
  const failure = failures.get(job.jobId);
  useEffect(() => {
    if (failure !== undefined) showError(failure);
  }, [failure]);
  return (
    <>
      <CallButton
        call={OperatorService.method.approveJob}
        loading={busy}
        leftSection={<IconCheck size={16} aria-hidden />}
        onClick={() => approve([job])}
      >
        Approve
      </CallButton>
      <CallButton
        call={OperatorService.method.rejectJob}
        variant="default"
        disabled={busy}
        leftSection={<IconX size={16} aria-hidden />}
        onClick={open}
      >
        Reject
      </CallButton>
      <ReasonModal
        opened={opened}
        title="Reject this job?"
        description="It will not run and nothing is charged. The user sees the reason."
        confirm="Reject"
        busy={busy}
        close={close}
        onConfirm={async (reason) => {
          close();
          await reject([job], reason);
        }}
      />
    </>
  );
}
