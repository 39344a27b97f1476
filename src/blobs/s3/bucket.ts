import { createHash } from 'node:crypto';
import http, { type AgentOptions } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  type S3Client,
  type S3ClientConfig,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { Fault } from '../../contract/fault.ts';
import { createS3Client, uploadObject } from './client.ts';

/** A bucket of an S3-compatible service that a user entered. */
export interface S3BucketConfig {
  /** Scheme, host, and port of the service. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKey: string;
  secretKey: string;
}

interface BucketErrorOptions {
  cause?: unknown;
  timedOut?: boolean;
}

/** Response of the service that is not a success. */
export class BucketError extends Error {
  /** HTTP status. Null if there was no response. */
  readonly status: number | null;
  /** True if the service was too slow. */
  readonly timedOut: boolean;

  constructor(
    status: number | null,
    message: string,
    { cause, timedOut = false }: BucketErrorOptions = {},
  ) {
    super(message, { cause });
    this.name = 'BucketError';
    this.status = status;
    this.timedOut = timedOut;
  }
}

/**
 * Writes objects to a bucket. Calls reject with a BucketError, with a fault of the lookup, or with
 * the signal's reason if aborted. Each request has a timeout, and a response of more than 1 MiB is
 * an error.
 */
export interface Bucket {
  /**
   * Writes an object, which appears when it is complete. Holds one part of 8 MiB in memory, and
   * rejects with errors of the chunks, too. Every part has its MD5.
   */
  put(
    key: string,
    contentType: string,
    chunks: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void>;
  remove(key: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Options for openBucket(). */
export interface BucketOptions {
  /** Resolves and checks host names; `dns.lookup` by default. */
  lookup?: LookupFunction;
  /** Timeout of a request, which sends at most one part, in milliseconds. */
  timeoutMs: number;
}

/** Maximum size of a response. Responses to the commands in use are far smaller. */
const maxResponseBytes = 1024 * 1024;
/** Maximum characters kept of an error message. */
const maxMessageLength = 500;

/** Opens a bucket. Connections are made with the first call. */
export function openBucket(address: S3BucketConfig, options: BucketOptions): Bucket {
  const { bucket } = address;
  const client = connect(address, options);
  const call = async (signal: AbortSignal, send: () => Promise<unknown>) => {
    try {
      signal.throwIfAborted();
      await send();
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  };
  return {
    put: (key, contentType, chunks, signal) => {
      const upload = {
        bucket,
        key,
        contentType,
        chunks,
        concurrency: 1,
      };
      return call(signal, () => uploadObject(client, upload, asBucketError, signal));
    },
    remove: (Key, signal) =>
      call(signal, () =>
        client
          .send(new DeleteObjectCommand({ Bucket: bucket, Key }), { abortSignal: signal })
          .catch((error) => Promise.reject(asBucketError(error))),
      ),
    close: () => client.destroy(),
  };
}

type RetryStrategy = Extract<S3ClientConfig['retryStrategy'], { recordSuccess: unknown }>;

const attemptOf = (number: number) => ({ getRetryCount: () => number, getRetryDelay: () => 0 });

/**
 * Repeats a request once if the client has corrected its time by that of the response, because the
 * clock of this host is wrong. Other requests are repeated by the schedule of deliveries.
 */
const retryStrategy: RetryStrategy = {
  acquireInitialRetryToken: async () => attemptOf(0),
  refreshRetryTokenForRetry: async (attempt, { error }) => {
    const { $metadata } = (error ?? {}) as Partial<S3ServiceException>;
    const isCorrected = $metadata !== undefined && 'clockSkewCorrected' in $metadata;
    if (!isCorrected || attempt.getRetryCount() > 0) throw error;
    return attemptOf(1);
  },
  recordSuccess: () => {},
};

function connect(
  { endpoint, region, accessKey, secretKey }: S3BucketConfig,
  { lookup, timeoutMs }: BucketOptions,
): S3Client {
  const agentOptions: AgentOptions = { keepAlive: true };
  if (lookup !== undefined) agentOptions.lookup = lookup;
  const client = createS3Client({
    endpoint,
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    retryStrategy,
    requestHandler: {
      httpAgent: new http.Agent(agentOptions),
      httpsAgent: new https.Agent(agentOptions),
    },
  });
  addDigests(client);
  limitRequests(client, timeoutMs);
  return client;
}

/** Sends the MD5 of each body. */
function addDigests(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (call) => {
      const { body, headers } = call.request as { body?: unknown; headers: Record<string, string> };
      if (body instanceof Uint8Array)
        headers['content-md5'] = createHash('md5').update(body).digest('base64');
      return next(call);
    },
    { step: 'build' },
  );
}

/** Limits the time of each request, and the size of its response. */
function limitRequests(client: S3Client, timeoutMs: number): void {
  const { requestHandler } = client.config;
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = async (request, options: { abortSignal?: unknown } = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signals = [timeout];
    if (options.abortSignal !== undefined) signals.push(options.abortSignal as AbortSignal);
    const orTimeout = (error: unknown): unknown => {
      if (!timeout.aborted) return error;
      const message = `no response within ${timeoutMs} ms`;
      return new BucketError(null, message, { cause: error, timedOut: true });
    };
    try {
      const abortSignal = AbortSignal.any(signals);
      const result = await handle(request, { ...options, abortSignal });
      result.response.body = limitBody(result.response, orTimeout);
      return result;
    } catch (error) {
      throw orTimeout(error);
    }
  };
}

/**
 * Returns the body of a response, which fails after the maximum size. Throws if its stated length
 * is larger.
 */
function limitBody(
  { headers, body }: { headers: Record<string, string>; body?: unknown },
  convert: (error: unknown) => unknown,
): unknown {
  if (!(body instanceof Readable)) return body;
  const tooLarge = () => new Error(`the response has more than ${maxResponseBytes} bytes`);
  if (Number(headers['content-length'] ?? 0) > maxResponseBytes) {
    body.destroy();
    throw tooLarge();
  }
  const limited = async function* () {
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > maxResponseBytes) throw tooLarge();
        yield chunk;
      }
    } catch (error) {
      throw convert(error);
    }
  };
  return Readable.from(limited(), { objectMode: false });
}

/** Converts an error of the client. Faults of the lookup are returned as they are. */
function asBucketError(thrown: unknown): Error {
  if (thrown instanceof Fault || thrown instanceof BucketError) return thrown;
  const { name, message, $metadata, $response } = thrown as Error & Partial<S3ServiceException>;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode ?? null;
  const words = [name, message].filter((word) => word && !/^(?:Error|UnknownError)$/.test(word));
  return new BucketError(status, words.join(': ').slice(0, maxMessageLength), { cause: thrown });
}
