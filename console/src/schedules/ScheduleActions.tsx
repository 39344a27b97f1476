import { useDisclosure } from '@mantine/hooks';
import {
  IconEdit,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconTrash,
} from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { type Schedule, ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { ActionButton, ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { EditScheduleModal } from '../ui/schedules/ScheduleModal.tsx';

const { method } = ScheduleService;

function EditButton({ schedule }: { schedule: Schedule }) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <CallButton call={method.updateSchedule} variant="default" icon={IconEdit} onClick={open}>
        Edit
      </CallButton>
      {opened && <EditScheduleModal schedule={schedule} close={close} />}
    </>
  );
}

/** Actions available in the schedule's current state. */
export function ScheduleActions({ schedule }: { schedule: Schedule }) {
  const { scheduleId, state } = schedule;
  const navigate = useNavigate();
  return (
    <>
      {(state === 'active' || state === 'paused') && (
        <ActionButton
          call={method.runSchedule}
          request={{ scheduleId }}
          done={({ jobId, reason }) => {
            if (jobId === '' && reason !== '') throw new Error(`The run did not start. ${reason}`);
            return jobId === '' ? 'The run waits for the last one.' : 'Run started.';
          }}
          variant="filled"
          icon={IconRefresh}
        >
          Run now
        </ActionButton>
      )}
      {state === 'active' && (
        <ActionButton
          call={method.pauseSchedule}
          request={{ scheduleId }}
          done="Schedule paused."
          icon={IconPlayerPause}
        >
          Pause
        </ActionButton>
      )}
      {state === 'paused' && (
        <ActionButton
          call={method.resumeSchedule}
          request={{ scheduleId }}
          done="Schedule resumed."
          icon={IconPlayerPlay}
        >
          Resume
        </ActionButton>
      )}
      {state !== 'ended' && <EditButton schedule={schedule} />}
      <ConfirmButton
        call={method.deleteSchedule}
        request={{ scheduleId }}
        question={{
          title: 'Delete this schedule?',
          text: 'The list of its runs is deleted. Their jobs remain.',
          confirm: 'Delete schedule',
        }}
        done={() => {
          void navigate('/schedules');
          return 'Schedule deleted.';
        }}
        icon={IconTrash}
      >
        Delete
      </ConfirmButton>
    </>
  );
}
