import { fromJson } from '@bufbuild/protobuf';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { type Quote, QuoteSchema } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import type { JobType } from '../../../src/contract/job-types.ts';
import { withQuery } from '../ui/request/options.ts';
import { fetchRest } from '../ui/session/rest.ts';
import { bodyHeaders, placed } from './send.ts';

/** Time without a change after which a quote is requested, in milliseconds. */
const settleMs = 500;

/** Quote of the current request, or the error of its quote. Both are null while there is none. */
export interface QuoteState {
  quote: Quote | null;
  error: unknown;
}

const none: QuoteState = { quote: null, error: null };

/**
 * Requests the quote of a submit whenever its body and the query of its options settle. Either is null while
 * it is incomplete or invalid.
 */
export function useQuote(jobType: JobType, body: string | FormData | null, query: string | null): QuoteState {
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
    const { path, body: sent } = placed(jobType, settled);
    const init = { method: 'POST', headers: bodyHeaders(settled), body: sent, signal };
    fetchRest(withQuery(path, 'validate_only=true', settledQuery), init, { showsWarnings: false })
      .then(async (response) => fromJson(QuoteSchema, await response.json()))
      .then((quote) => show({ quote, error: null }))
      .catch((error: unknown) => show({ quote: null, error }));
    return () => abort.abort();
  }, [jobType, settled, settledQuery]);
  // A quote of an earlier request would mislead.
  return settled === body && settledQuery === query ? state : none;
}
