import { List, Stack, Text } from '@mantine/core';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import type { Offer } from '../offers/offers.ts';
import { useOptionTexts } from './option-texts.ts';
import { describeQuote } from './quote.ts';
import { useQuote } from './useQuote.ts';

/** Shows what the current request would cost and when it could run, or its problems. */
export function QuotePanel({ offer, body }: { offer: Offer; body: string | FormData | null }) {
  const { query } = useOptionTexts();
  const { quote, error } = useQuote(offer, body, query);
  if (error !== null) return <ErrorAlert error={error} title="This request would be refused" />;
  const text = quote && describeQuote(quote, Date.now());
  return (
    <Stack gap={4} aria-live="polite" role="status" aria-label="Quote">
      {text?.refusals.map((refusal) => (
        <Text size="sm" c="var(--mantine-color-error)" key={refusal}>
          {refusal}
        </Text>
      ))}
      {text && (
        <List size="sm" c="dimmed">
          {[...text.warnings, ...text.facts].map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}
