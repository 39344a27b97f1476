import { useMutation } from '@connectrpc/connect-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import type { SubmitOptions } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { showSuccess } from '../ui/errors/toast.ts';
import { useRefresh } from '../ui/list/useList.ts';
import { requestTextOf } from '../ui/request/draft.ts';

/**
 * Saves a request and its options to a schedule, and opens the schedule. `error`: the error of the
 * last call.
 */
export function useScheduleChange(scheduleId: string, options: () => SubmitOptions | undefined) {
  const { mutateAsync, isPending } = useMutation(ScheduleService.method.updateSchedule);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  const refresh = useRefresh();
  const submit = async (body: string | FormData) => {
    setError(null);
    try {
      const request = await requestTextOf(body);
      await mutateAsync({ scheduleId, request, options: options() ?? {} });
      showSuccess('Schedule changed.');
      await refresh();
      await navigate(`/schedules/${scheduleId}`);
    } catch (thrown) {
      setError(thrown);
      throw thrown;
    }
  };
  return { busy: isPending, error, submit };
}
