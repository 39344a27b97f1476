import { useEffect, useState } from 'react';
import { useNavigate } from 'react-router';
import { findJobType, type JobType } from '../../../../src/contract/job-types.ts';
import { showError } from '../errors/describe.ts';
import { send } from '../request/send.ts';
import { createIdempotencyKey } from '../session/send-once.ts';
import { useSession } from '../session/session.ts';
import { changeMode } from '../session/sign-in.ts';
import { exampleBody } from './examples.ts';
import { storeExample, storeWaitingExample, takeWaitingExample } from './stored-examples.ts';

/** Runs examples on test data; null if the service has none. */
export interface Examples {
  /** Path of the submit whose example starts; '' for none. */
  started: string;
  run: (jobType: JobType) => void;
}

const idOf = ({ market, kind }: Pick<JobType, 'market' | 'kind'>) => `${market}/${kind}`;

/**
 * Returns a function that submits the example of a job type in the test account, and opens its job.
 */
export function useExamples(): Examples | null {
  const { isTest, other } = useSession();
  const [started, setStarted] = useState('');
  const navigate = useNavigate();
  const submit = async (id: string) => {
    const [market = '', kind = ''] = id.split('/');
    const jobType = findJobType({ market, kind });
    const body = jobType && exampleBody(jobType);
    if (!jobType || !body) return;
    setStarted(id);
    const { jobId } = await send(jobType, '', body, createIdempotencyKey());
    storeExample(jobId);
    await navigate(`/jobs/${jobId}`);
  };
  const attempt = (action: Promise<void>) =>
    void action.catch((error) => {
      setStarted('');
      showError(error);
    });
  // The change of accounts loads the page again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs once.
  useEffect(() => {
    const exampleId = takeWaitingExample();
    if (exampleId !== null && isTest) attempt(submit(exampleId));
  }, []);
  if (!isTest && other === null) return null;
  const run = (jobType: JobType) => {
    if (isTest) return attempt(submit(idOf(jobType)));
    setStarted(idOf(jobType));
    storeWaitingExample(idOf(jobType));
    attempt(changeMode());
  };
  return { started, run };
}
