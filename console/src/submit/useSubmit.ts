import { useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import type { JobType } from '../../../src/contract/job-types.ts';
import { counted } from '../../../src/present/text.ts';
import { showSuccess } from '../ui/errors/toast.ts';
import { useRefresh } from '../ui/list/useList.ts';
import { type SubmittedJob, send } from '../ui/request/send.ts';
import { createIdempotencyKey } from '../ui/session/send-once.ts';

/**
 * Submits to a job type and opens the job, or calls `show` with it. `query`: options of the submit;
 * null while one is invalid. `error`: the error of the last submit.
 */
export function useSubmit(
  jobType: JobType,
  query: string | null,
  show?: (job: SubmittedJob) => void,
) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  const refresh = useRefresh();
  // Resending the same request reuses the key, because the response may have been lost.
  const lastSubmit = useRef<{ query: string; body: unknown; key: string } | null>(null);

  const submit = async (body: string | FormData) => {
    if (query === null) return;
    if (lastSubmit.current?.body !== body || lastSubmit.current.query !== query)
      lastSubmit.current = { query, body, key: createIdempotencyKey() };
    setBusy(true);
    setError(null);
    try {
      const job = await send(jobType, query, body, lastSubmit.current!.key);
      lastSubmit.current = null;
      if (!show) showSuccess(`Job submitted for ${counted(job.cost, 'credit')}.`);
      await refresh();
      if (show) show(job);
      else await navigate(`/jobs/${job.jobId}`);
    } catch (thrown) {
      setError(thrown);
      throw thrown;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, submit };
}
