import { useDisclosure } from '@mantine/hooks';
import { IconCalendarRepeat } from '@tabler/icons-react';
import type { SubmitOptions } from '../../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { ScheduleService } from '../../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { JobType } from '../../../../src/contract/job-types.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { NewScheduleModal } from './ScheduleModal.tsx';

interface ScheduleButtonProps {
  jobType: JobType;
  /** Body of the request; null while it is incomplete. */
  body: string | FormData | null;
  /** Options of each run's submit; undefined if there are none. */
  options: SubmitOptions | undefined;
}

/** Button that repeats a request by a schedule instead of submitting it once. */
export function ScheduleButton({ jobType, body, options }: ScheduleButtonProps) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <CallButton
        call={ScheduleService.method.createSchedule}
        variant="default"
        icon={IconCalendarRepeat}
        disabled={body === null}
        onClick={open}
      >
        Schedule
      </CallButton>
      {opened && body !== null && (
        <NewScheduleModal jobType={jobType} body={body} options={options} close={close} />
      )}
    </>
  );
}
