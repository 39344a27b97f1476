import { Accordion, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCalendarRepeat } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { SubmitOptions } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { JobType } from '../../../src/contract/job-types.ts';
import { formatUnits } from '../../../src/present/text.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { validateField } from '../ui/request/body.ts';
import type { Draft } from '../ui/request/draft.ts';
import type { RequestShape } from '../ui/request/fields.ts';
import { optionFields, optionMessage, optionValues } from '../ui/request/options.ts';
import { NewScheduleModal } from '../ui/schedules/ScheduleModal.tsx';
import { OptionInput } from './OptionInputs.tsx';
import { useOptionTexts } from './option-texts.ts';
import { QuotePanel } from './QuotePanel.tsx';

/** Properties of a way to enter a request. */
export interface ModeProps<Body = string> {
  jobType: JobType;
  shape: RequestShape;
  /** Values to start with. */
  draft: Draft;
  busy: boolean;
  submit: (body: Body) => Promise<void>;
}

interface SubmitBarProps {
  jobType: JobType;
  /** Number of units; null if it is unknown. */
  units: number | null;
  busy: boolean;
  /** Body of the request, of which the quote is shown; null while it is incomplete. */
  body: string | FormData | null;
  /** Labels of the fields that are not filled in rightly; none by default. */
  lacking?: readonly string[];
  /** Names the location of a problem of the body, such as a line (default: its path). */
  locate?: (path: string) => string;
  disabled?: boolean;
  /** Submits; without it the button submits its form. */
  onSubmit?: () => void;
  /** Buttons above the options. */
  children?: ReactNode;
}

/** Options, and a submit button with the quote of the request beside it. */
export function SubmitBar({
  jobType,
  units,
  busy,
  body,
  lacking = [],
  locate,
  disabled = false,
  onSubmit,
  children,
}: SubmitBarProps) {
  const { query, texts, scheduleId } = useOptionTexts();
  const submitText = units !== null && units > 1 ? `Submit ${formatUnits(units)}` : 'Submit';
  return (
    <Stack>
      {children && <Group>{children}</Group>}
      <Options />
      <Group align="flex-start">
        <CallButton
          call={scheduleId === '' ? jobType.method : ScheduleService.method.updateSchedule}
          type={onSubmit ? 'button' : 'submit'}
          loading={busy}
          disabled={disabled || query === null}
          {...(onSubmit ? { onClick: onSubmit } : {})}
        >
          {scheduleId === '' ? submitText : 'Save to schedule'}
        </CallButton>
        {scheduleId === '' && (
          <ScheduleButton
            jobType={jobType}
            body={query === null ? null : body}
            options={query === null ? undefined : optionMessage(texts)}
          />
        )}
        <QuotePanel jobType={jobType} body={body} lacking={lacking} locate={locate} />
      </Group>
    </Stack>
  );
}

/** Collapsed inputs for the options of a submit. */
function Options() {
  const { texts, change, query } = useOptionTexts();
  const count = Object.keys(optionValues(texts)).length;
  const setText = count === 0 ? '' : ` (${count} set)`;
  const state = query === null ? ' (fix the highlighted values)' : setText;
  return (
    <Accordion variant="contained">
      <Accordion.Item value="options">
        <Accordion.Control>{`Options${state}`}</Accordion.Control>
        <Accordion.Panel>
          <Stack>
            {optionFields.map((field) => (
              <OptionInput
                key={field.name}
                field={field}
                value={texts[field.name] ?? ''}
                texts={texts}
                change={(text) => change(field.name, text)}
                error={validateField(field, texts[field.name] ?? '')}
              />
            ))}
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

interface ScheduleButtonProps {
  jobType: JobType;
  /** Body of the request; null while it is incomplete. */
  body: string | FormData | null;
  /** Options of each run's submit; undefined if there are none. */
  options: SubmitOptions | undefined;
}

/** Button that repeats a request by a schedule instead of submitting it once. */
function ScheduleButton({ jobType, body, options }: ScheduleButtonProps) {
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
