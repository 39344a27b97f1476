import { useDisclosure } from '@mantine/hooks';
import { IconCalendarRepeat } from '@tabler/icons-react';
import type { SubmitOptions } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { Offer } from '../offers/offers.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { ScheduleModal } from './ScheduleModal.tsx';

interface ScheduleButtonProps {
  offer: Offer;
  /** Body of the request; null while it is incomplete. */
  body: string | FormData | null;
  /** Options of each run's submit; undefined without any. */
  options: SubmitOptions | undefined;
}

/** Button that repeats a request by a schedule instead of submitting it once. */
export function ScheduleButton({ offer, body, options }: ScheduleButtonProps) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <CallButton
        call={ScheduleService.method.createSchedule}
        variant="default"
        leftSection={<IconCalendarRepeat size={16} aria-hidden />}
        disabled={body === null}
        onClick={open}
      >
        Schedule
      </CallButton>
      {body !== null && (
        <ScheduleModal offer={offer} body={body} options={options} opened={opened} close={close} />
      )}
    </>
  );
}
