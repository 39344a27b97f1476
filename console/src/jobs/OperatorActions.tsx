import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconPlayerStop, IconX } from '@tabler/icons-react';
import { useEffect } from 'react';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { showError } from '../ui/errors/describe.ts';
import { useDecisions } from '../ui/jobs/useDecisions.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { ReasonModal } from '../ui/reason/ReasonModal.tsx';

/** Texts of the cancellation of a job. */
interface CancelTexts {
  title: string;
  text: string;
  confirm: string;
  done: string;
}

/** Actions of operators on a job that has not ended. */
export function OperatorActions({ job, texts }: { job: Job; texts: CancelTexts }) {
  return job.status === 'awaiting_approval' ? (
    <DecisionButtons job={job} />
  ) : (
    <Cancel job={job} texts={texts} />
  );
}

function DecisionButtons({ job }: { job: Job }) {
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
        icon={IconCheck}
        onClick={() => approve([job])}
      >
        Approve
      </CallButton>
      <CallButton
        call={OperatorService.method.rejectJob}
        variant="default"
        disabled={busy}
        icon={IconX}
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

/** Button that cancels the job of a user with a reason. */
function Cancel({ job: { jobId }, texts }: { job: Job; texts: CancelTexts }) {
  const { title, text, confirm, done } = texts;
  const call = JobService.method.cancelJob;
  const [opened, { open, close }] = useDisclosure();
  const { run, busy } = useAction(call, done);
  return (
    <>
      <CallButton call={call} variant="default" icon={IconPlayerStop} loading={busy} onClick={open}>
        {confirm}
      </CallButton>
      <ReasonModal
        opened={opened}
        title={title}
        confirm={confirm}
        busy={busy}
        close={close}
        description={`${text} The user sees the reason.`}
        onConfirm={async (reason) => {
          await run({ jobId, reason });
          close();
        }}
      />
    </>
  );
}
