import { useQuery } from '@connectrpc/connect-query';
import { Checkbox, Group, Popover, Progress, Skeleton, Stack, Text } from '@mantine/core';
import { type FieldFill, JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { formatPercent } from '../../../../src/present/text.ts';
import { ErrorAlert } from '../../ui/errors/ErrorAlert.tsx';
import { useMountedOpen } from '../../ui/layout/useMountedOpen.ts';
import { PopupTarget } from '../../ui/popup/PopupTarget.tsx';
import type { Popup } from '../../ui/popup/usePopup.ts';

export interface FieldChooserProps {
  jobId: string;
  chosen: readonly string[];
  choose: (fields: readonly string[]) => void;
}

interface FieldsPopoverProps extends FieldChooserProps {
  popup: Popup;
}

/** Popover of a FieldChooser. A file of its own, because it is loaded with its first use. */
export function FieldsPopover({ popup, ...chooser }: FieldsPopoverProps) {
  const { id, button, opened, change } = popup;
  const isOpen = useMountedOpen(opened);
  return (
    <Popover
      position="bottom-start"
      width={360}
      withinPortal
      trapFocus
      returnFocus
      id={id}
      opened={isOpen}
      onChange={change}
    >
      <Popover.Target>
        <PopupTarget button={button} />
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns" mah={420} style={{ overflowY: 'auto' }}>
        <Fields {...chooser} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Fields({ jobId, chosen, choose }: FieldChooserProps) {
  const { data, error, isPending, refetch } = useQuery(JobService.method.listFields, { jobId });
  if (isPending) return <Skeleton height={160} role="status" aria-label="Loading columns" />;
  if (error) return <ErrorAlert error={error} retry={refetch} />;
  const toggle = (name: string) =>
    choose(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {data.records > 0
          ? 'The bars show how many of the records have a value.'
          : 'The values of these records were not counted.'}
      </Text>
      {data.fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          isCounted={data.records > 0}
          checked={chosen.includes(field.name)}
          toggle={toggle}
        />
      ))}
    </Stack>
  );
}

interface FieldProps {
  field: FieldFill;
  /** Whether there were records to count. */
  isCounted: boolean;
  checked: boolean;
  toggle: (name: string) => void;
}

/** Returns the color of a share of records that have a value, from 0 to 1. */
function fillColor(fill: number): string {
  if (fill < 0.5) return 'red';
  return fill < 0.95 ? 'yellow' : 'teal';
}

function Field({ field: { name, fill }, isCounted, checked, toggle }: FieldProps) {
  return (
    <Group wrap="nowrap" gap="sm" justify="space-between">
      <Checkbox
        size="xs"
        label={name}
        checked={checked}
        onChange={() => toggle(name)}
        style={{ overflowWrap: 'anywhere' }}
      />
      {isCounted && (
        <Group wrap="nowrap" gap={6} style={{ flexShrink: 0 }}>
          <Progress
            w={60}
            size="sm"
            value={fill * 100}
            color={fillColor(fill)}
            aria-label={`${name}: ${formatPercent(fill)} have a value`}
          />
          <Text size="xs" w={36} ta="right">
            {formatPercent(fill)}
          </Text>
        </Group>
      )}
    </Group>
  );
}
