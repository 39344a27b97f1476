import { type GetQualityResponse, type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { platformClock } from '../../client/clock.ts';
import {
  type ByteStream,
  type CallOptions,
  type GleanerClient,
  GleanerError,
  type Quote,
  type WaitOptions,
} from '../../client/index.ts';
import { waitForJob } from '../../client/wait.ts';
import type { JobOptions } from '../../contract/submit-options.ts';
import { UsageError } from './exit.ts';
import type { Session } from './session.ts';

/** Option of commands that work on the caller's jobs, or for operators on all jobs. */
export const operatorOption = ['--operator', 'access jobs of all users (operators)'] as const;

/** Access to jobs as a user or as an operator. */
export interface JobSource {
  find(id: string): Promise<Job>;
  wait(jobId: string, options: WaitOptions): Promise<Job>;
  retry(jobId: string, options: JobOptions): Promise<Job>;
  quoteRetry(jobId: string, options: JobOptions): Promise<Quote>;
  cancel(jobId: string, reason: string): Promise<Job>;
  quality(jobId: string): Promise<GetQualityResponse>;
  /** Returns the results as JSON Lines or, with a format, the records as a table. */
  results(jobId: string, selection: { format: string; only: string }): Promise<ByteStream>;
}

/** Returns the access for a command. Without a user's key it is the operator's. */
export function jobsOf(session: Session, isOperator: boolean): JobSource {
  const options: CallOptions = { signal: session.signal };
  if (!isOperator && !session.isOperatorOnly) {
    const client = session.user();
    return {
      find: (id) => client.find(checkId(id), options),
      wait: (jobId, more) => client.wait(jobId, { ...options, ...more }),
      retry: async (jobId, values) =>
        (await client.submit(JobService.method.retryJob, { jobId }, { ...values, ...options })).response,
      quoteRetry: (jobId, values) =>
        client.quote(JobService.method.retryJob, { jobId }, { ...values, ...options }),
      async cancel(jobId, reason) {
        if (reason !== '') throw new UsageError('--reason requires --operator');
        return client.call(JobService.method.cancelJob, { jobId }, options);
      },
      quality: (jobId) => client.call(JobService.method.getQuality, { jobId }, options),
      results: resultsOf(client, JobService.method, options),
    };
  }
  const client = session.operator();
  const { getJob, listJobs, retryJob, cancelJob, getQuality } = OperatorService.method;
  const source: JobSource = {
    async find(id) {
      if (!/^\d+$/.test(checkId(id))) return (await client.call(getJob, { jobId: id }, options)).job!;
      const { jobs } = await client.call(listJobs, { search: id, pageSize: 1000 }, options);
      const found = jobs.find(({ taskId }) => taskId === BigInt(id));
      if (found === undefined) throw new GleanerError({ status: 404, detail: `No task ${id}` });
      return found;
    },
    wait: (jobId, more) => waitForJob(() => source.find(jobId), platformClock, { ...options, ...more }),
    async retry(jobId, values) {
      if (Object.keys(values).length > 0)
        throw new UsageError(
          'An operator retries a job with the options it has. Omit the options, or --operator.',
        );
      return (await client.call(retryJob, { jobId }, options)).job!;
    },
    async quoteRetry() {
      throw new UsageError('--dry-run shows the cost of your own jobs. Omit --operator.');
    },
    cancel: async (jobId, reason) => (await client.call(cancelJob, { jobId, reason }, options)).job!,
    quality: (jobId) => client.call(getQuality, { jobId }, options),
    results: resultsOf(client, OperatorService.method, options),
  };
  return source;
}

/** Returns the function that reads results with the calls of a service. */
function resultsOf(
  client: Pick<GleanerClient, 'stream'>,
  {
    streamResults,
    exportRecords,
  }: Pick<(typeof JobService | typeof OperatorService)['method'], 'streamResults' | 'exportRecords'>,
  options: CallOptions,
): JobSource['results'] {
  return (jobId, selection) =>
    selection.format === '' && selection.only === ''
      ? client.stream(streamResults, { jobId }, options)
      : client.stream(exportRecords, { jobId, ...selection }, options);
}

/** Parses a job reference: a UUID, a task number, or a path that ends with one. Throws a UsageError. */
export function checkId(text: string): string {
  const id = text.startsWith('/') ? (text.split('/').at(-1) ?? '') : text;
  if (/^\d{1,18}$/.test(id) || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id;
  throw new UsageError(`No job "${text}". Pass a job UUID or a task number.`);
}
