import {
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromJson,
  getOption,
  type JsonValue,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from '@bufbuild/protobuf';
import { type Job, JobService, type ResultFile } from '../../gen/gleaner/job/v1/job_pb.ts';
import { job as jobOption, market as marketOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import type { HttpBodySchema } from '../../gen/google/api/httpbody_pb.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import { platformClock } from './clock.ts';
import type { Downloaded, DownloadOptions } from './download.ts';
import { endpointOf, messageOf } from './endpoint.ts';
import { GleanerError } from './error.ts';
import { parseExact } from './exact-json.ts';
import { fromRest, ShapeError } from './rest-json.ts';
import { type ByteStream, byteStream } from './stream.ts';
import { createSend, type Outgoing, type Send } from './transport.ts';
import { type WaitOptions, waitForJob } from './wait.ts';

/** Where a service is and in whose name it is called. */
export interface ClientOptions {
  /** What its addresses start with: `https://gleaner.example`. */
  url: string;
  /** API key: a user's, or an operator's for the operators' service. */
  apiKey: string;
  /** Tries of a call that may be repeated, the first one counted; 5 without it. */
  tries?: number;
  /** Milliseconds that an answer may take to begin; 60,000 without it. */
  timeoutMs?: number;
  /** The platform's own without it. */
  fetch?: typeof globalThis.fetch;
  clock?: Clock;
  random?: () => number;
}

/** What goes along with a call. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** What goes along with a submit. */
export interface SubmitOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters; made anew without it. The same key and body give the first answer again. */
  idempotencyKey?: string;
}

/** A job that was accepted. */
export interface Submitted<Answer> {
  /** Id of the job, a uuid, whatever its kind calls it. */
  jobId: string;
  answer: Answer;
}

/** Requests that ask for a page, and answers that say where the next one begins. */
type PageRequest = DescMessage & { field: { pageToken: unknown } };
type PageAnswer = DescMessage & { field: { nextPageToken: unknown } };

/** Calls of one service in one name. Every call rejects with a GleanerError, or with its signal's reason. */
export interface GleanerClient {
  /** Calls a method: by its REST path, or as Connect with JSON where it has none. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: CallOptions,
  ): Promise<MessageShape<O>>;
  /** Calls a method whose answer is a stream of bytes. */
  stream<I extends DescMessage>(
    method: DescMethodServerStreaming<I, typeof HttpBodySchema>,
    request: MessageInitShape<I>,
    options?: CallOptions,
  ): Promise<ByteStream>;
  /** Asks for one page after the other. */
  pages<I extends PageRequest, O extends PageAnswer>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: CallOptions,
  ): AsyncIterable<MessageShape<O>>;
  /** Submits a job. Repeated where no answer came: its idempotency key sees to it that there is one job. */
  submit<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: SubmitOptions,
  ): Promise<Submitted<MessageShape<O>>>;
  /** The job with this id, or with the integer that clients of its kind know it by. */
  find(id: string, options?: CallOptions): Promise<Job>;
  /** Waits until a job has ended, and gives it as it is then, however it ended. */
  wait(jobId: string, options?: WaitOptions): Promise<Job>;
  /** Result files of a job, with fresh links. */
  files(jobId: string, options?: CallOptions): Promise<ResultFile[]>;
  /** Opens a link from an answer. Range headers and the like go along with it. */
  open(link: string, headers?: Record<string, string>, options?: CallOptions): Promise<Response>;
  /** Saves a result file, going on where an earlier try ended; Node only. See docs/client.md. */
  download(file: ResultFile, target: string, options?: DownloadOptions): Promise<Downloaded>;
  /** Saves every result file of a job in a folder, those that are there already left out; Node only. */
  downloadAll(jobId: string, folder: string, options?: DownloadOptions): Promise<Downloaded[]>;
}

/** Makes a client. Throws a TypeError for an address that is none. */
export function createGleanerClient(options: ClientOptions): GleanerClient {
  const base = baseOf(options.url);
  const clock = options.clock ?? platformClock;
  const random = options.random ?? Math.random;
  const send = createSend({
    fetch: options.fetch ?? ((...parameters) => globalThis.fetch(...parameters)),
    clock,
    tries: options.tries ?? 5,
    timeoutMs: options.timeoutMs ?? 60_000,
    random,
  });
  const authorization = `Bearer ${options.apiKey}`;

  const ask = async (
    method: DescMethod,
    request: object,
    {
      signal,
      idempotencyKey,
      query = '',
      patienceMs = 0,
    }: SubmitOptions & { query?: string; patienceMs?: number },
  ): Promise<Response> => {
    const endpoint = endpointOf(method);
    const message = messageOf(method, request);
    const { verb, path, body } = endpoint.isConnect
      ? { verb: 'POST', path: endpoint.path, body: toJson(method.input, message) as JsonObject }
      : endpoint.requestOf(message);
    return send({
      verb,
      url: base + path + (query === '' ? '' : `${path.includes('?') ? '&' : '?'}${query}`),
      headers: {
        authorization,
        ...(endpoint.isConnect ? { 'connect-protocol-version': '1' } : {}),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body,
      isRepeatable: verb === 'GET' || idempotencyKey !== undefined,
      signal,
      patienceMs,
    });
  };

  const client: GleanerClient = {
    async call(method, request, callOptions = {}) {
      return answerOf(method, await ask(method, request, callOptions));
    },
    async stream(method, request, callOptions = {}) {
      return byteStream(await ask(method, request, callOptions));
    },
    async *pages(method, request, callOptions = {}) {
      let pageToken = '';
      do {
        const page = await client.call(method, { ...request, pageToken } as typeof request, callOptions);
        yield page;
        pageToken = (page as { nextPageToken?: string }).nextPageToken ?? '';
      } while (pageToken !== '');
    },
    async submit(method, request, { signal, idempotencyKey = crypto.randomUUID() } = {}) {
      if (!endpointOf(method).isSubmit) throw new TypeError(`${method} does not submit a job`);
      const answer = await answerOf(
        method,
        await ask(method, request, { ...optional(signal), idempotencyKey }),
      );
      const { jobId, taskId } = answer as { jobId?: string; taskId?: number };
      if (jobId !== undefined) return { jobId, answer };
      const filter = {
        market: getOption(method.parent, marketOption),
        kind: getOption(method, jobOption).kind,
      };
      const job = await findTask(client, BigInt(taskId!), filter, optional(signal));
      return { jobId: job.jobId, answer };
    },
    async find(id, callOptions = {}) {
      if (/^\d+$/.test(id)) return findTask(client, BigInt(id), {}, callOptions);
      return client.call(JobService.method.getJob, { jobId: id }, callOptions);
    },
    wait: (jobId, waitOptions = {}) =>
      waitForJob(
        async (waitMs, signal) => {
          const response = await ask(
            JobService.method.getJob,
            { jobId },
            { ...optional(signal), query: `wait=${Math.round(waitMs / 1000)}s`, patienceMs: waitMs },
          );
          return answerOf(JobService.method.getJob, response);
        },
        clock,
        waitOptions,
      ),
    files: async (jobId, callOptions = {}) =>
      (await client.call(JobService.method.listFiles, { jobId }, callOptions)).files,
    open: (link, headers = {}, callOptions = {}) =>
      openLink(send, base, authorization, { link, headers, signal: callOptions.signal }),
    async download(file, target, downloadOptions = {}) {
      const { downloadFile } = await import('./download.ts');
      return downloadFile({ open: client.open, clock, random }, file, target, downloadOptions);
    },
    async downloadAll(jobId, folder, downloadOptions = {}) {
      const { downloadFiles } = await import('./download.ts');
      const files = await client.files(jobId, optional(downloadOptions.signal));
      return downloadFiles({ open: client.open, clock, random }, files, folder, downloadOptions);
    },
  };
  return client;
}

function baseOf(url: string): string {
  const { protocol, href } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`${url} is not a web address`);
  return href.replace(/[?#].*$/, '').replace(/\/+$/, '');
}

const optional = (signal: AbortSignal | undefined): CallOptions => (signal === undefined ? {} : { signal });

/** The message in a method's answer. */
async function answerOf<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  response: Response,
): Promise<MessageShape<O>> {
  const text = await response.text().catch((error: Error) => {
    if (error.name === 'AbortError') throw error;
    throw new GleanerError({ status: 0, detail: `the connection broke: ${error.message}`, cause: error });
  });
  try {
    if (endpointOf(method).isConnect)
      return fromJson(method.output, JSON.parse(text) as JsonValue, { ignoreUnknownFields: true });
    return fromRest(method.output, parseExact(text));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof ShapeError || error instanceof Error)) throw error;
    const detail = `${method.name}: the answer is not what it should be: ${error.message}`;
    throw new GleanerError({ status: -1, detail, cause: error });
  }
}

async function findTask(
  client: GleanerClient,
  taskId: bigint,
  filter: { market?: string; kind?: string },
  options: CallOptions,
): Promise<Job> {
  for await (const { jobs } of client.pages(
    JobService.method.listJobs,
    { ...filter, pageSize: 1000 },
    options,
  )) {
    const found = jobs.find((job) => job.taskId === taskId);
    if (found !== undefined) return found;
  }
  throw new GleanerError({ status: 404, detail: `There is no task ${taskId}` });
}

/**
 * Links of the service's own address get the key at once; those elsewhere (a storage engine, another name of
 * the service) only where they ask for a Bearer key.
 */
async function openLink(
  send: Send,
  base: string,
  authorization: string,
  {
    link,
    headers,
    signal,
  }: { link: string; headers: Record<string, string>; signal: AbortSignal | undefined },
): Promise<Response> {
  const url = new URL(link, `${base}/`);
  const request: Outgoing = {
    verb: 'GET',
    url: url.href,
    headers: { 'accept-encoding': 'identity', ...headers },
    isRepeatable: true,
    signal,
    alsoGood: [416],
  };
  if (url.origin === new URL(base).origin)
    return send({ ...request, headers: { ...request.headers, authorization } });
  try {
    return await send(request);
  } catch (error) {
    if (!(error instanceof GleanerError) || error.status !== 401) throw error;
    return send({ ...request, headers: { ...request.headers, authorization } });
  }
}
