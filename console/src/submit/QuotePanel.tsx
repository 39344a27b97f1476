import { fromJson } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { List, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { type Quote, QuoteSchema } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import type { JobType } from '../../../src/contract/job-types.ts';
import { describeQuote } from '../../../src/present/quote.ts';
import { capitalize } from '../../../src/present/text.ts';
import { formatLocalTime } from '../../../src/present/time.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { withQuery } from '../ui/request/options.ts';
import { bodyHeaders, toHttpRequest } from '../ui/request/send.ts';
import { basePath } from '../ui/session/base-path.ts';
import { fetchRest } from '../ui/session/rest.ts';
import { useOptionTexts } from './option-texts.ts';

interface QuotePanelProps {
  jobType: JobType;
  /** Body of the request; null while it is incomplete. */
  body: string | FormData | null;
  /** Labels of the fields that a request without a body lacks, none by default. */
  lacking?: readonly string[];
  /** Names the location of a problem of the body (default: its path). */
  locate?: ((path: string) => string) | undefined;
}

/** Says when the cost appears: after which fields are filled in. */
const incompleteText = (lacking: readonly string[]): string =>
  lacking.length === 0
    ? 'The cost appears here when the request is complete.'
    : `Fill in ${labelList.format(lacking)} to see the cost.`;

const labelList = new Intl.ListFormat('en');

const momentText = (at: Timestamp | undefined) => (at ? formatLocalTime(timestampDate(at)) : '');

/** Shows what the current request would cost and when it could run, or its problems. */
export function QuotePanel({ jobType, body, lacking = [], locate }: QuotePanelProps) {
  const { query, scheduleId } = useOptionTexts();
  const { quote, error } = useQuote(jobType, body, query);
  if (error !== null)
    return <ErrorAlert error={error} title="This request would be refused" locate={locate} />;
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
          {incompleteText(lacking)}
        </Text>
      )}
      {text && scheduleId !== '' && <Text size="sm">A run at this moment:</Text>}
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

/** Time without a change after which a quote is requested, in milliseconds. */
const settleMs = 500;

/** Quote of the current request, or the error of its quote. Both are null while there is none. */
export interface QuoteState {
  quote: Quote | null;
  error: unknown;
}

const none: QuoteState = { quote: null, error: null };

/**
 * Requests the quote of a submit whenever its body and the query of its options settle. Either is
 * null while it is incomplete or invalid.
 */
function useQuote(
  jobType: JobType,
  body: string | FormData | null,
  query: string | null,
): QuoteState {
  const [settled] = useDebouncedValue(body, settleMs);
  const [settledQuery] = useDebouncedValue(query, settleMs);
  const [state, setState] = useState(none);
  useEffect(() => {
    setState(none);
    if (settled === null || settledQuery === null) return;
    const abort = new AbortController();
    const { signal } = abort;
    const show = (next: QuoteState) => {
      if (!signal.aborted) setState(next);
    };
    const { path, body: sent } = toHttpRequest(jobType, settled);
    const init = {
      method: 'POST',
      headers: bodyHeaders(settled),
      body: sent,
      signal,
    };
    fetchRest(basePath + withQuery(path, 'validate_only=true', settledQuery), init, {
      showsWarnings: false,
    })
      .then(async (response) => fromJson(QuoteSchema, await response.json()))
      .then((quote) => show({ quote, error: null }))
      .catch((error: unknown) => show({ quote: null, error }));
    return () => abort.abort();
  }, [jobType, settled, settledQuery]);
  // A quote of an earlier request would mislead.
  return settled === body && settledQuery === query ? state : none;
}
