import { useMutation } from '@connectrpc/connect-query';
import { useNavigate } from 'react-router';
import type { SubmitOptions } from '../../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { type Schedule, ScheduleService } from '../../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { JobType } from '../../../../src/contract/job-types.ts';
import { jobTypeText } from '../../../../src/present/names.ts';
import { showSuccess } from '../errors/toast.ts';
import { useRefresh } from '../list/useList.ts';
import { requestTextOf } from '../request/draft.ts';
import { ScheduleDialog } from './ScheduleDialog.tsx';

const { createSchedule, updateSchedule } = ScheduleService.method;

interface NewScheduleModalProps {
  jobType: JobType;
  body: string | FormData;
  options: SubmitOptions | undefined;
  close: () => void;
}

/** Dialog that creates a schedule of a request. */
export function NewScheduleModal({ jobType, body, options, close }: NewScheduleModalProps) {
  const creation = useMutation(createSchedule);
  const navigate = useNavigate();
  const refresh = useRefresh();
  return (
    <ScheduleDialog
      title="Schedule this job"
      confirm="Create schedule"
      refused="Schedule not created"
      call={createSchedule}
      close={close}
      initialValues={{
        name: options?.name ?? jobTypeText(jobType),
        cron: '0 8 * * *',
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        overlap: 'skip',
        maxTotalCredits: '',
      }}
      save={async ({ maxTotalCredits, ...values }) => {
        const { scheduleId } = await creation.mutateAsync({
          ...values,
          market: jobType.market,
          kind: jobType.kind,
          request: await requestTextOf(body),
          ...(options ? { options } : {}),
          ...(maxTotalCredits === '' ? {} : { maxTotalCredits: BigInt(maxTotalCredits) }),
        });
        showSuccess('Schedule created.');
        await refresh();
        await navigate(`/schedules/${scheduleId}`);
      }}
    />
  );
}

/** Dialog that changes the name, times, and limits of a schedule. */
export function EditScheduleModal({ schedule, close }: { schedule: Schedule; close: () => void }) {
  const update = useMutation(updateSchedule);
  const refresh = useRefresh();
  const { scheduleId, name, cron, timeZone, overlap, maxTotalCredits: limit } = schedule;
  return (
    <ScheduleDialog
      title="Edit schedule"
      confirm="Save"
      refused="Schedule not changed"
      call={updateSchedule}
      close={close}
      note="What the schedule collects, and with which options, is changed on its page."
      initialValues={{
        name,
        cron,
        timeZone,
        overlap,
        maxTotalCredits: limit === undefined ? '' : Number(limit),
      }}
      save={async ({ maxTotalCredits, ...values }) => {
        await update.mutateAsync({
          ...values,
          scheduleId,
          ...(maxTotalCredits === ''
            ? { clear: limit === undefined ? [] : ['max_total_credits'] }
            : { maxTotalCredits: BigInt(maxTotalCredits) }),
        });
        showSuccess('Schedule changed.');
        await refresh();
        close();
      }}
    />
  );
}
