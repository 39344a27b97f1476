import { useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { showSuccess } from '../errors/toast.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { formatCount } from '../number/format.ts';
import type { Offer } from '../offers/offers.ts';
import { createIdempotencyKey, send } from './send.ts';

/** Submits to an offer and opens the job. `error` is the error of the last submit. */
export function useSubmit(offer: Offer) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  const refresh = useRefresh();
  // Resending the same body reuses the key, because the response may have been lost.
  const lastSubmit = useRef<{ body: unknown; key: string } | null>(null);

  const submit = async (body: string | FormData) => {
    if (lastSubmit.current?.body !== body) lastSubmit.current = { body, key: createIdempotencyKey() };
    setBusy(true);
    setError(null);
    try {
      const { jobId, cost } = await send(offer, body, lastSubmit.current!.key);
      lastSubmit.current = null;
      showSuccess(`Job submitted for ${formatCount(cost)} credits.`);
      await refresh();
      await navigate(jobId === '' ? '/jobs' : `/jobs/${jobId}`);
    } catch (thrown) {
      setError(thrown);
      throw thrown;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, submit };
}
