import type {
  DescMessage,
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { type Job, JobService, type ResultFile } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { Quote } from '../../gen/gleaner/job/v1/quote_pb.ts';
import type { HttpBodySchema } from '../../gen/google/api/httpbody_pb.ts';
import { endpointOf } from '../../src/contract/endpoint.ts';
import { warningHeader } from '../../src/contract/response-headers.ts';
import {
  type JobOptions,
  takesSubmitOptions,
  writeSubmitOptions,
} from '../../src/contract/submit-options.ts';
import { waitMetadata } from '../../src/contract/wait.ts';
import type { CallOptions, UnaryOptions } from './call-options.ts';
import type { Downloaded, DownloadOptions } from './download.ts';
import { GleanerError } from './error.ts';
import { createRpc } from './rpc.ts';
import { type ByteStream, byteStream } from './stream.ts';
import { type ClientClock, createFetch, createRetry, platformClock } from './transport.ts';
import { type WaitOptions, waitForJob } from './wait.ts';

/** Options of createGleanerClient(). */
export interface ClientOptions {
  /** Base address of the service: `https://gleaner.example`. */
  url: string;
  /** API key of a user, or of an operator for the operators' service. */
  apiKey: string;
  /** Maximum attempts of a repeatable call, including the first; default 5. */
  maxAttempts?: number;
  /** Timeout until a response starts, in milliseconds; default 60,000. */
  timeoutMs?: number;
  /**
   * Called with the service's warning about a call that succeeded with a restriction, for example a
   * submission for a marketplace without an origin.
   */
  onWarning?: (text: string) => void;
  /** Ends every call of the client that has no signal of its own. */
  signal?: AbortSignal;
  /** Default: the platform's. */
  fetch?: typeof globalThis.fetch;
  clock?: ClientClock;
  random?: () => number;
}

/** Options of the call, and submit options of the contract (docs/submit-options.md). */
export interface SubmitOptions extends CallOptions, JobOptions {
  /**
   * 1 to 255 visible ASCII characters. Default: a new one for each submission. The same key and
   * request return the first response again.
   */
  idempotencyKey?: string;
  /**
   * Waits up to this time for the end of the job, in milliseconds, at most 60,000; default 0. The
   * response then has its `outcome`, with the record of a job with one unit. Not for retries.
   */
  waitMs?: number;
}

/** An accepted job. */
export interface Submitted<Response> {
  /** Id of the job, a UUID, even if the kind numbers its tasks. */
  jobId: string;
  response: Response;
}

/** Requests for one page of a list, and their responses. */
type PagedRequest = DescMessage & { field: { pageToken: unknown } };
type PagedResponse = DescMessage & { field: { nextPageToken: unknown } };

/**
 * Calls to one service with one key. Every call rejects with a GleanerError, or with its signal's
 * reason.
 */
export interface GleanerClient {
  /** Calls a unary method. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: UnaryOptions,
  ): Promise<MessageShape<O>>;
  /** Calls a method that responds with a stream of bytes. */
  stream<I extends DescMessage>(
    method: DescMethodServerStreaming<I, typeof HttpBodySchema>,
    request: MessageInitShape<I>,
    options?: CallOptions,
  ): Promise<ByteStream>;
  /** Requests one page after the other. */
  pages<I extends PagedRequest, O extends PagedResponse>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: CallOptions,
  ): AsyncIterable<MessageShape<O>>;
  /**
   * Submits a job, or retries the failed units of one. Repeated after transient errors: the
   * idempotency key ensures that there is one job.
   */
  submit<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: SubmitOptions,
  ): Promise<Submitted<MessageShape<O>>>;
  /**
   * Returns the cost of a submission, or of a retry, and when it could run. Nothing is charged or
   * created.
   */
  quote<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: CallOptions & JobOptions,
  ): Promise<Quote>;
  /** Returns the job with this id, or with the task number that its kind returned. */
  find(id: string, options?: CallOptions): Promise<Job>;
  /** Waits until a job has ended and returns it, however it ended. */
  wait(jobId: string, options?: WaitOptions): Promise<Job>;
  /** Returns the result files of a job with fresh links. */
  files(jobId: string, options?: CallOptions): Promise<ResultFile[]>;
  /** Opens a link of a response, with headers such as `Range`. */
  open(link: string, headers?: Record<string, string>, options?: CallOptions): Promise<Response>;
  /** Saves a result file, and resumes an interrupted download; Node only. See docs/client.md. */
  download(file: ResultFile, target: string, options?: DownloadOptions): Promise<Downloaded>;
  /**
   * Saves every result file of a job in a folder, except files that it has saved before. Node only.
   */
  downloadAll(jobId: string, folder: string, options?: DownloadOptions): Promise<Downloaded[]>;
}

/** Creates a client. Throws a TypeError for an address that is not HTTP or HTTPS, or no key. */
export function createGleanerClient(options: ClientOptions): GleanerClient {
  const base = baseOf(options.url);
  const clock = options.clock ?? platformClock;
  const random = options.random ?? Math.random;
  const fetch = createFetch({
    fetch: options.fetch ?? ((...parameters) => globalThis.fetch(...parameters)),
    timeoutMs: options.timeoutMs ?? 60_000,
  });
  const retry = createRetry({ clock, maxAttempts: options.maxAttempts ?? 5, random });
  const rpc = createRpc(base, fetch);
  const authorization = `Bearer ${keyOf(options.apiKey)}`;
  const own = optional(options.signal);

  const unary = async <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    isRepeatable = isRead(method),
  ): Promise<MessageShape<O>> => {
    const { message, header } = await retry(
      () => rpc.unary(method, request, { headers: { authorization, ...headers }, signal }),
      { isRepeatable, signal },
    );
    const warning = header.get(warningHeader);
    if (warning !== null) options.onWarning?.(warning);
    return message;
  };

  const client: GleanerClient = {
    call: (method, request, { signal = own.signal, idempotencyKey } = {}) =>
      idempotencyKey === undefined
        ? unary(method, request, {}, signal)
        : unary(method, request, { 'idempotency-key': idempotencyKey }, signal, true),
    stream: (method, request, { signal = own.signal } = {}) =>
      retry(
        async () =>
          byteStream(await rpc.stream(method, request, { headers: { authorization }, signal })),
        {
          isRepeatable: isRead(method),
          signal,
        },
      ),
    async *pages(method, request, callOptions = {}) {
      let pageToken = '';
      do {
        const page = await client.call(
          method,
          { ...request, pageToken } as typeof request,
          callOptions,
        );
        yield page;
        pageToken = (page as { nextPageToken?: string }).nextPageToken ?? '';
      } while (pageToken !== '');
    },
    async submit(method, request, submitOptions = {}) {
      const {
        signal = own.signal,
        idempotencyKey = crypto.randomUUID(),
        waitMs = 0,
        ...values
      } = submitOptions;
      if (!takesSubmitOptions(method)) throw new TypeError(`${method} does not submit a job`);
      // Of a caller without types; a quote has no job.
      if ('validateOnly' in values)
        throw new TypeError('validateOnly: use quote() in place of submit()');
      const wait = waitMs > 0 ? waitHeader(waitMs) : {};
      const headers = { 'idempotency-key': idempotencyKey, ...wait, ...writeSubmitOptions(values) };
      const response = await unary(method, request, headers, signal, true);
      const { jobId, taskId } = response as { jobId?: string; taskId?: number };
      if (jobId !== undefined) return { jobId, response };
      return { jobId: (await client.find(String(taskId), optional(signal))).jobId, response };
    },
    async quote(method, request, { signal = own.signal, ...values } = {}) {
      if (!takesSubmitOptions(method)) throw new TypeError(`${method} does not submit a job`);
      const headers = writeSubmitOptions({ ...values, validateOnly: true });
      const { quote } = (await unary(method, request, headers, signal, true)) as { quote?: Quote };
      if (quote !== undefined) return quote;
      throw new GleanerError({ status: -1, detail: 'The service did not return a quote' });
    },
    find: (id, callOptions = {}) =>
      client.call(JobService.method.getJob, { jobId: id }, callOptions),
    wait: (jobId, waitOptions = {}) =>
      waitForJob(
        (waitMs, signal) => unary(JobService.method.getJob, { jobId }, waitHeader(waitMs), signal),
        clock,
        { ...own, ...waitOptions },
      ),
    files: async (jobId, callOptions = {}) =>
      (await client.call(JobService.method.listFiles, { jobId }, callOptions)).files,
    open: (link, headers = {}, { signal = own.signal } = {}) =>
      retry(() => openConnection(fetch, base, authorization, { link, headers, signal }), {
        isRepeatable: true,
        signal,
      }),
    async download(file, target, downloadOptions = {}) {
      const { downloadFile } = await import('./download.ts');
      return downloadFile({ open: client.open, clock, random }, file, target, {
        ...own,
        ...downloadOptions,
      });
    },
    async downloadAll(jobId, folder, downloadOptions = {}) {
      const { downloadFiles } = await import('./download.ts');
      const files = await client.files(jobId, optional(downloadOptions.signal));
      return downloadFiles({ open: client.open, clock, random }, files, folder, {
        ...own,
        ...downloadOptions,
      });
    },
  };
  return client;
}

/** Returns the metadata of a wait in milliseconds. */
const waitHeader = (waitMs: number) => ({ [waitMetadata]: String(Math.round(waitMs / 1000)) });

function baseOf(url: string): string {
  const { protocol, href } = URL.parse(url) ?? {};
  if (href === undefined || (protocol !== 'http:' && protocol !== 'https:'))
    throw new TypeError(`${url} is not an HTTP or HTTPS address`);
  return href.replace(/[?#].*$/, '').replace(/\/+$/, '');
}

/** Returns an API key without surrounding white space, such as the line break of its file. */
function keyOf(apiKey: string): string {
  // A caller without types may pass an unset variable.
  const key = (apiKey as string | undefined)?.trim();
  if (!key) throw new TypeError('The API key is missing: pass it as apiKey');
  return key;
}

const optional = (signal: AbortSignal | undefined): CallOptions =>
  signal === undefined ? {} : { signal };

/**
 * Returns true if a method only reads. A method without a REST path may always change something.
 */
const isRead = (method: DescMethod) => endpointOf(method)?.verb === 'GET';

/**
 * Opens a link. Links to the service's own address get the key with the first request; others (a
 * storage engine, another name of the service) only if they respond with 401.
 */
async function openConnection(
  fetch: typeof globalThis.fetch,
  base: string,
  authorization: string,
  {
    link,
    headers,
    signal,
  }: { link: string; headers: Record<string, string>; signal: AbortSignal | undefined },
): Promise<Response> {
  const url = new URL(link, `${base}/`);
  const request = (key: Record<string, string>) =>
    fetch(url.href, {
      headers: { 'accept-encoding': 'identity', ...headers, ...key },
      ...optional(signal),
    });
  if (url.origin === new URL(base).origin) return request({ authorization });
  const isWeaker = url.protocol !== 'https:' && base.startsWith('https:');
  return request({}).catch((error: unknown) => {
    if (!isWeaker && error instanceof GleanerError && error.status === 401)
      return request({ authorization });
    throw error;
  });
}
