import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Group, Modal, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import type { SubmitOptions } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { describeError } from '../errors/describe.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { showSuccess } from '../errors/toast.ts';
import { useRefresh } from '../list/useRefresh.ts';
import type { Offer } from '../offers/offers.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { overlapLabels, scheduledJobText } from './columns.tsx';
import { requestTextOf } from './request-text.ts';
import { Times } from './Times.tsx';

const { method } = ScheduleService;

interface ScheduleModalProps {
  offer: Offer;
  body: string | FormData;
  options: SubmitOptions | undefined;
  opened: boolean;
  close: () => void;
}

const typingMs = 400;
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones = [...new Set(['UTC', ownZone, ...Intl.supportedValuesOf('timeZone')])];

const initialValues = (offer: Offer) => ({
  name: scheduledJobText(offer),
  cron: '0 8 * * *',
  timeZone: ownZone,
  overlap: 'skip',
  maxTotalCredits: '' as number | '',
});

/** Form of a new schedule. `error`: fault of the last attempt; null without one. */
function useScheduleForm({ offer, body, options }: Pick<ScheduleModalProps, 'offer' | 'body' | 'options'>) {
  const creating = useMutation(method.createSchedule);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  const refresh = useRefresh();
  const form = useForm({
    initialValues: initialValues(offer),
    validate: { name: (value) => (value.trim() === '' ? 'Required' : null) },
  });
  const submit = form.onSubmit(async ({ maxTotalCredits, ...values }) => {
    try {
      const { scheduleId } = await creating.mutateAsync({
        ...values,
        market: offer.market,
        kind: offer.kind,
        request: await requestTextOf(body),
        ...(options ? { options } : {}),
        ...(maxTotalCredits === '' ? {} : { maxTotalCredits: BigInt(maxTotalCredits) }),
      });
      showSuccess('Schedule created.');
      await refresh();
      await navigate(`/schedules/${scheduleId}`);
    } catch (thrown) {
      setError(thrown);
    }
  });
  return { form, submit, error, isPending: creating.isPending };
}

/** Dialog that creates a schedule of a request. */
export function ScheduleModal({ offer, body, options, opened, close }: ScheduleModalProps) {
  const { form, submit, error, isPending } = useScheduleForm({ offer, body, options });
  const { cron, timeZone } = form.values;
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Schedule this job"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          // React passes the event on to the form that the dialog was opened from, which would submit the job.
          event.stopPropagation();
          submit(event);
        }}
        noValidate
      >
        <Stack>
          {error ? <ErrorAlert error={error} title="Schedule not created" /> : null}
          <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
          <TextInput
            label="Cron expression"
            description="Minute, hour, day of the month, month, day of the week."
            {...form.getInputProps('cron')}
          />
          <Select
            label="Time zone"
            data={zones}
            searchable
            allowDeselect={false}
            {...form.getInputProps('timeZone')}
          />
          <NextTimes cron={cron} timeZone={timeZone} />
          <Select
            label="If the last run has not ended"
            data={Object.entries(overlapLabels).map(([value, label]) => ({ value, label }))}
            allowDeselect={false}
            {...form.getInputProps('overlap')}
          />
          <NumberInput
            label="Maximum credits of all runs"
            description="Leave empty for no limit."
            min={1}
            allowDecimal={false}
            {...form.getInputProps('maxTotalCredits')}
          />
          <Group justify="flex-end">
            <CallButton call={method.createSchedule} type="submit" loading={isPending}>
              Create schedule
            </CallButton>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Next times of an expression, or its problem. */
function NextTimes(timing: { cron: string; timeZone: string }) {
  const [{ cron, timeZone }] = useDebouncedValue(timing, typingMs);
  const { data, error } = useQuery(
    method.previewSchedule,
    { cron, timeZone, count: 3 },
    { enabled: cron.trim() !== '', retry: false },
  );
  if (error)
    return (
      <Text size="sm" c="var(--mantine-color-error)" role="alert">
        {describeError(error).problems[0]?.message ?? describeError(error).detail}
      </Text>
    );
  return (
    <Stack gap={2}>
      <Text size="sm">Next runs</Text>
      <Times times={data?.times ?? []} />
    </Stack>
  );
}
