import { Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { JobType } from '../../../src/contract/job-types.ts';
import { formatUnits } from '../../../src/present/text.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { optionMessage } from '../ui/request/options.ts';
import { ScheduleButton } from '../ui/schedules/ScheduleButton.tsx';
import { Options } from './Options.tsx';
import { useOptionTexts } from './option-texts.ts';
import { QuotePanel } from './QuotePanel.tsx';

interface SubmitBarProps {
  jobType: JobType;
  /** Number of units; null if it is unknown. */
  units: number | null;
  busy: boolean;
  /** Body of the request, of which the quote is shown; null while it is incomplete. */
  body: string | FormData | null;
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
  disabled = false,
  onSubmit,
  children,
}: SubmitBarProps) {
  const { query, texts } = useOptionTexts();
  return (
    <Stack>
      {children && <Group>{children}</Group>}
      <Options />
      <Group align="flex-start">
        <CallButton
          call={jobType.method}
          type={onSubmit ? 'button' : 'submit'}
          loading={busy}
          disabled={disabled || query === null}
          {...(onSubmit ? { onClick: onSubmit } : {})}
        >
          {units !== null && units > 1 ? `Submit ${formatUnits(units)}` : 'Submit'}
        </CallButton>
        <ScheduleButton
          jobType={jobType}
          body={query === null ? null : body}
          options={query === null ? undefined : optionMessage(texts)}
        />
        <QuotePanel jobType={jobType} body={body} />
      </Group>
    </Stack>
  );
}
