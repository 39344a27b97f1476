import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { List, Stack, Text } from '@mantine/core';
import type { JobType } from '../../../src/contract/job-types.ts';
import { describeQuote } from '../../../src/present/quote.ts';
import { capitalize } from '../../../src/present/text.ts';
import { formatLocalTime } from '../../../src/present/time.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { useOptionTexts } from './option-texts.ts';
import { useQuote } from './useQuote.ts';

interface QuotePanelProps {
  jobType: JobType;
  /** Body of the request; null while it is incomplete. */
  body: string | FormData | null;
}

const momentText = (at: Timestamp | undefined) => (at ? formatLocalTime(timestampDate(at)) : '');

/** Shows what the current request would cost and when it could run, or its problems. */
export function QuotePanel({ jobType, body }: QuotePanelProps) {
  const { query } = useOptionTexts();
  const { quote, error } = useQuote(jobType, body, query);
  if (error !== null) return <ErrorAlert error={error} title="This request would be refused" />;
  const text = quote && describeQuote(quote, momentText);
  return (
    <Stack gap={4} flex="1 1 300px" aria-live="polite" role="status" aria-label="Quote">
      {text?.refusals.map((refusal) => (
        <Text size="sm" c="var(--mantine-color-error)" key={refusal}>
          {refusal}
        </Text>
      ))}
      {body === null && (
        <Text size="sm" c="dimmed">
          The cost appears here when the request is complete.
        </Text>
      )}
      {text && (
        <List size="sm" c="dimmed">
          {text.warnings.map((warning) => (
            <List.Item key={warning}>{warning}</List.Item>
          ))}
          {text.facts.map(([name, fact]) => (
            <List.Item key={`${name} ${fact}`}>
              {capitalize(name)}: {fact}
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}
