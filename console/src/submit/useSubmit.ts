import { useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { tellDone } from '../fault/tell.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { countText } from '../number/text.ts';
import type { Offer } from '../offers/offers.ts';
import { newIdempotencyKey, send } from './send.ts';

/** Submits to an offer, and goes to the job. `error` is what the last try was refused with. */
export function useSubmit(offer: Offer) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  const refresh = useRefresh();
  // The same body sent again is the same job: an answer may have been lost on its way.
  const last = useRef<{ body: unknown; key: string } | null>(null);

  const submit = async (body: string | FormData) => {
    if (last.current?.body !== body) last.current = { body, key: newIdempotencyKey() };
    setBusy(true);
    setError(null);
    try {
      const { jobId, cost } = await send(offer, body, last.current!.key);
      last.current = null;
      tellDone(`Submitted, for ${countText(cost)} credits.`);
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
