import type { DescMethod } from '@bufbuild/protobuf';
import { useQuery } from '@connectrpc/connect-query';
import { NativeSelect, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { ScheduleService } from '../../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import {
  defaultRepeat,
  type Repeat,
  readCron,
  repeats,
  weekdays,
  writeCron,
} from '../../../../src/present/cron.ts';
import { FormModal } from '../actions/FormModal.tsx';
import { describeError } from '../errors/describe.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { overlapLabels } from './columns.tsx';
import { Times } from './Times.tsx';

export interface ScheduleValues {
  name: string;
  cron: string;
  timeZone: string;
  overlap: string;
  /** '' for no limit. */
  maxTotalCredits: number | '';
}

const typingMs = 400;
const zones = [
  ...new Set([
    'UTC',
    Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...Intl.supportedValuesOf('timeZone'),
  ]),
];

interface ScheduleDialogProps {
  title: string;
  initialValues: ScheduleValues;
  /** Label of the button that saves. */
  confirm: string;
  /** Title of the error of a refused call. */
  refused: string;
  call: DescMethod;
  save: (values: ScheduleValues) => Promise<unknown>;
  close: () => void;
  /** Text above the buttons. */
  note?: string;
}

/** Dialog with the name, times, and limits of a schedule. */
export function ScheduleDialog(props: ScheduleDialogProps) {
  const { title, initialValues, confirm, refused, call, save, close, note = '' } = props;
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues,
    validate: {
      name: (value) => (value.trim() === '' ? 'Required' : null),
      maxTotalCredits: (value) =>
        value === '' || Number.isSafeInteger(value) ? null : 'Enter a whole number of credits.',
    },
  });
  const submit = form.onSubmit(async (values) => {
    setBusy(true);
    try {
      await save(values);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  });
  const { cron, timeZone } = form.values;
  return (
    <FormModal
      close={close}
      title={title}
      onSubmit={submit}
      submit={confirm}
      call={call}
      busy={busy}
    >
      {error ? <ErrorAlert error={error} title={refused} /> : null}
      <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
      <TimesInput cron={cron} change={(next) => form.setFieldValue('cron', next)} />
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
        {...form.getInputProps('maxTotalCredits')}
      />
      {note !== '' && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </FormModal>
  );
}

const choices = [
  ...Object.entries(repeats).map(([value, label]) => ({ value, label })),
  { value: 'custom', label: 'Custom times' },
];

const days = weekdays.map((label, value) => ({ value: String(value), label }));

interface TimesInputProps {
  cron: string;
  change: (cron: string) => void;
}

/** Selection of a repeat and its times, or a cron expression. */
function TimesInput({ cron, change }: TimesInputProps) {
  const repeat = readCron(cron);
  const [isCustom, setIsCustom] = useState(repeat === null);
  const select = (value: string) => {
    setIsCustom(value === 'custom');
    if (value !== 'custom')
      change(writeCron({ ...(repeat ?? defaultRepeat), repeat: value as Repeat['repeat'] }));
  };
  return (
    <>
      <NativeSelect
        label="Repeat"
        data={choices}
        value={isCustom || !repeat ? 'custom' : repeat.repeat}
        onChange={({ currentTarget }) => select(currentTarget.value)}
      />
      {isCustom || !repeat ? (
        <TextInput
          label="Cron expression"
          description="Minute, hour, day of the month, month, day of the week."
          value={cron}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        />
      ) : (
        <RepeatInputs
          repeat={repeat}
          change={(fields) => change(writeCron({ ...repeat, ...fields }))}
        />
      )}
    </>
  );
}

interface RepeatInputsProps {
  repeat: Repeat;
  change: (fields: Partial<Repeat>) => void;
}

/** Time of a repeat, and the day of a weekly one. */
function RepeatInputs({ repeat: { repeat, time, weekday }, change }: RepeatInputsProps) {
  return (
    <>
      {repeat === 'weekly' && (
        <NativeSelect
          label="Day"
          data={days}
          value={String(weekday)}
          onChange={({ currentTarget }) => change({ weekday: Number(currentTarget.value) })}
        />
      )}
      <TextInput
        type="time"
        label={repeat === 'hourly' ? 'Time (only the minutes count)' : 'Time'}
        value={time}
        onChange={({ currentTarget: { value } }) => value !== '' && change({ time: value })}
      />
    </>
  );
}

/** Next times of an expression, or its problem. */
function NextTimes(timing: { cron: string; timeZone: string }) {
  const [{ cron, timeZone }] = useDebouncedValue(timing, typingMs);
  const { data, error } = useQuery(
    ScheduleService.method.previewSchedule,
    { cron, timeZone, count: 3 },
    // Without the previous times, the buttons below would jump up and down at each change.
    { enabled: cron.trim() !== '', retry: false, placeholderData: keepPreviousData },
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
