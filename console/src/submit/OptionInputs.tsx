import { useQuery } from '@connectrpc/connect-query';
import {
  Group,
  Input,
  MultiSelect,
  NativeSelect,
  NumberInput,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import type { ComponentType } from 'react';
import { DestinationService } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { seriesOf } from '../../../src/contract/track.ts';
import { AddButton, RemoveButton } from '../ui/actions/RowButtons.tsx';
import type { FieldTexts } from '../ui/request/body.ts';
import type { FieldShape } from '../ui/request/fields.ts';
import { type HoldRow, readHold, writeHold } from '../ui/request/options.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { Field } from './Field.tsx';

interface OptionInputProps {
  field: FieldShape;
  value: string;
  change: (value: string) => void;
  error: string | null;
  texts: FieldTexts;
}

/** Switch that tracks a job, and the name of its series. */
function TrackInput({ field, value, change, error }: OptionInputProps) {
  const series = seriesOf(value);
  return (
    <Stack gap="xs">
      <Switch
        label={field.label}
        description="Keeps the history of the items and compares them with the last run."
        checked={series !== null}
        onChange={({ currentTarget }) => change(currentTarget.checked ? 'true' : '')}
      />
      {series !== null && (
        <TextInput
          label="Series"
          description="Jobs with the same series are compared. Leave empty to compare each item with its last reading."
          maw={480}
          value={series}
          error={error}
          onChange={({ currentTarget }) => change(currentTarget.value || 'true')}
        />
      )}
    </Stack>
  );
}

/** Selection of the caller's destinations. */
function DeliverInput({ field, value, change, error }: OptionInputProps) {
  const { data } = useQuery(DestinationService.method.listDestinations, {});
  const chosen = value === '' ? [] : value.split(',');
  const names = data?.destinations.map(({ name }) => name) ?? [];
  if (data && names.length === 0 && chosen.length === 0)
    return (
      <Input.Wrapper label={field.label}>
        <Text size="sm" c="dimmed">
          You have no destinations.{' '}
          <TextLink to="/destinations" underline="always">
            Create a destination
          </TextLink>
        </Text>
      </Input.Wrapper>
    );
  return (
    <MultiSelect
      label={field.label}
      description="Destinations to which the results are delivered."
      maw={480}
      data={[...new Set([...names, ...chosen])]}
      value={chosen}
      error={error}
      onChange={(next) => change(next.join(','))}
    />
  );
}

/** Switch that limits deliveries to what changed; only for jobs that are tracked and delivered. */
function OnlyInput({ value, change, texts }: OptionInputProps) {
  if (value === '' && (seriesOf(texts.track) === null || !texts.deliver_to)) return null;
  return (
    <Switch
      label="Deliver only changes"
      description="Leaves out the items that are as in the last run."
      checked={value === 'changed'}
      onChange={({ currentTarget }) => change(currentTarget.checked ? 'changed' : '')}
    />
  );
}

/** Rows with the minimum fill of fields. */
function HoldInput({ value, change, error }: OptionInputProps) {
  const rows = readHold(value);
  const set = (index: number, part: Partial<HoldRow>) => {
    const row = { ...rows[index]!, ...part };
    change(writeHold(rows.with(index, row)));
  };
  return (
    <Input.Wrapper
      role="group"
      aria-label="Minimum quality"
      labelElement="div"
      label="Minimum quality"
      description="Holds the deliveries if fewer records have a value of a field."
    >
      <Stack gap="xs" align="flex-start" mt={6}>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: The rows are read from one text and have no identity.
          <Group key={index} gap="xs" wrap="nowrap">
            <TextInput
              aria-label={`Field ${index + 1}`}
              placeholder="price.amount"
              value={row.field}
              onChange={({ currentTarget }) => set(index, { field: currentTarget.value })}
            />
            <NumberInput
              aria-label={`Percent ${index + 1}`}
              w={100}
              suffix=" %"
              min={0}
              max={100}
              decimalScale={2}
              value={row.percent}
              onChange={(percent) => set(index, { percent: String(percent) })}
            />
            <RemoveButton
              label={`Remove field ${index + 1}`}
              onClick={() => change(writeHold(rows.toSpliced(index, 1)))}
            />
          </Group>
        ))}
        {error !== null && <Input.Error>Enter a field and a percentage in each row.</Input.Error>}
        <AddButton
          size="xs"
          label="Add field"
          onClick={() => change(writeHold([...rows, { field: '', percent: '95' }]))}
        />
      </Stack>
    </Input.Wrapper>
  );
}

/** Ages that the form offers, with their labels. Results can be reused for a day. */
const ages: Readonly<Record<string, string>> = {
  '': 'Read every page',
  '1h': '1 hour',
  '6h': '6 hours',
  '1d': '1 day',
};

/** Selection of the age up to which results are reused. */
function AgeInput({ value, change, error }: OptionInputProps) {
  const all = value in ages ? ages : { ...ages, [value]: value };
  return (
    <NativeSelect
      label="Reuse results up to"
      description="Reused results cost less."
      maw={480}
      value={value}
      error={error}
      data={Object.entries(all).map(([age, label]) => ({ value: age, label }))}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}

/** Inputs of options that have their own; others are shown like any field. */
const inputs: Readonly<Record<string, ComponentType<OptionInputProps>>> = {
  track: TrackInput,
  deliver_to: DeliverInput,
  only: OnlyInput,
  hold: HoldInput,
  max_age: AgeInput,
};

/** Input of an option of a submit. */
export function OptionInput(props: OptionInputProps) {
  const Own = inputs[props.field.name];
  return Own ? <Own {...props} /> : <Field {...props} />;
}
