import { useMutation } from '@connectrpc/connect-query';
import { modals } from '@mantine/modals';
import { IconPlayerPause, IconPlayerPlay, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { type Schedule, ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { CallButton } from '../permission/CallButton.tsx';

const { method } = ScheduleService;

const icon = { size: 16, 'aria-hidden': true } as const;

/** Calls that change a schedule. Each shows its outcome. */
function useScheduleCalls(scheduleId: string) {
  const attempt = useAttempt();
  const navigate = useNavigate();
  const run = useMutation(method.runSchedule);
  const pause = useMutation(method.pauseSchedule);
  const resume = useMutation(method.resumeSchedule);
  const remove = useMutation(method.deleteSchedule);
  return {
    isPending: {
      run: run.isPending,
      pause: pause.isPending,
      resume: resume.isPending,
      remove: remove.isPending,
    },
    start: () =>
      attempt(run.mutateAsync({ scheduleId }), ({ jobId, reason }) => {
        if (jobId === '' && reason !== '') throw new Error(`The run did not start. ${reason}`);
        return jobId === '' ? 'The run waits for the last one.' : 'Run started.';
      }),
    pause: () => attempt(pause.mutateAsync({ scheduleId }), 'Schedule paused.'),
    resume: () => attempt(resume.mutateAsync({ scheduleId }), 'Schedule resumed.'),
    remove: () =>
      attempt(remove.mutateAsync({ scheduleId }), () => {
        void navigate('/schedules');
        return 'Schedule deleted.';
      }),
  };
}

/** Actions available in the schedule's current state. */
export function ScheduleActions({ schedule: { scheduleId, state } }: { schedule: Schedule }) {
  const { isPending, start, pause, resume, remove } = useScheduleCalls(scheduleId);
  const confirmDelete = () =>
    modals.openConfirmModal({
      title: 'Delete this schedule?',
      children: 'The list of its runs is deleted. Their jobs remain.',
      labels: { confirm: 'Delete schedule', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => void remove(),
    });
  return (
    <>
      {(state === 'active' || state === 'paused') && (
        <CallButton
          call={method.runSchedule}
          leftSection={<IconRefresh {...icon} />}
          loading={isPending.run}
          onClick={start}
        >
          Run now
        </CallButton>
      )}
      {state === 'active' && (
        <CallButton
          call={method.pauseSchedule}
          variant="default"
          leftSection={<IconPlayerPause {...icon} />}
          loading={isPending.pause}
          onClick={pause}
        >
          Pause
        </CallButton>
      )}
      {state === 'paused' && (
        <CallButton
          call={method.resumeSchedule}
          variant="default"
          leftSection={<IconPlayerPlay {...icon} />}
          loading={isPending.resume}
          onClick={resume}
        >
          Resume
        </CallButton>
      )}
      <CallButton
        call={method.deleteSchedule}
        variant="default"
        leftSection={<IconTrash {...icon} />}
        loading={isPending.remove}
        onClick={confirmDelete}
      >
        Delete
      </CallButton>
    </>
  );
}
