import { type Bucket, BucketError, openBucket } from '../blobs/s3/bucket.ts';
import { Fault } from '../contract/fault.ts';
import { guardedLookup, requirePublicHost } from '../fetch/address.ts';
import { parseRetryAfter } from '../fetch/retry-after.ts';
import type { FileRequest, FileSender } from '../outbound/post.ts';
import { formatResponseError } from '../outbound/response-error.ts';
import type {
  DestinationBucket,
  HttpsAddress,
  HttpsSecrets,
  OpenedDestination,
  S3Secrets,
} from './address.ts';

/** Time that an attempt may take: a base, and the time of its bytes at a minimum rate. */
export interface TimeBudget {
  /** Aborted, with the reason that createTimeBudget() got, once the time is over. */
  readonly signal: AbortSignal;
  /** Adds the time of these bytes. */
  add(bytes: number): void;
  /** Ends the budget: its signal no longer aborts. */
  end(): void;
}

/** Options of createTimeBudget(). */
export interface TimeBudgetOptions {
  baseMs: number;
  minBytesPerSecond: number;
  /** Creates the reason of the signal. */
  reason(totalMs: number): Error;
  /** Returns a time in milliseconds that never goes back; `performance.now` by default. */
  now?: () => number;
}

/** Starts a time budget. */
export function createTimeBudget(options: TimeBudgetOptions): TimeBudget {
  const { baseMs, minBytesPerSecond, reason, now = () => performance.now() } = options;
  const controller = new AbortController();
  const start = now();
  let totalMs = baseMs;
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    const leftMs = start + totalMs - now();
    if (leftMs <= 0) controller.abort(reason(Math.round(totalMs)));
    else timer = setTimeout(check, leftMs);
  };
  check();
  return {
    signal: controller.signal,
    // The timer is not reset for every chunk: it may fire early and then checks again.
    add: (bytes) => {
      totalMs += (bytes / minBytesPerSecond) * 1_000;
    },
    end: () => clearTimeout(timer),
  };
}

export interface DeliveredFile {
  /** Name below the destination. */
  path: string;
  contentType: string;
  /** Reads the contents from the start. Every call yields the same bytes. */
  read(): AsyncIterable<Uint8Array>;
  /** Computes the size, and the SHA-256 in hexadecimal. */
  measure(): Promise<{ bytes: number; sha256: string }>;
}

/** Result of a request to a destination. */
export interface WriteResult {
  /** HTTP status of the last response. Null if there was none. */
  status: number | null;
  /** Empty for success. */
  error: string;
  /** True if a retry is pointless. */
  final?: boolean;
  /** True if the receiver was too slow. */
  timedOut?: boolean;
  /** Delay requested by the receiver (Retry-After). */
  retryAfterMs?: number | undefined;
}

/**
 * Writes the files of one destination. Rejects with the signal's reason if aborted, and with errors
 * of the file.
 */
export interface DestinationWriter {
  write(file: DeliveredFile, signal: AbortSignal): Promise<WriteResult>;
  remove(path: string, signal: AbortSignal): Promise<WriteResult>;
  close(): void;
}

/** Dependencies of a writer. */
export interface WriterContext {
  files: FileSender;
  /** Returns the current time, to read Retry-After. */
  now(): number;
  /** True if destinations may be in private networks. */
  allowPrivate: boolean;
}

/** Timeout of a request. The timeout of writing a file adds time for its bytes. */
const requestTimeoutMs = 120_000;
const minBytesPerSecond = 256 * 1024;

export function openWriter(
  context: WriterContext,
  destination: OpenedDestination,
): DestinationWriter {
  return destination.type === 's3'
    ? bucketWriter(context, destination.address, destination.secrets)
    : putWriter(context, destination.address, destination.secrets);
}

function bucketWriter(
  { allowPrivate }: WriterContext,
  { url, bucket: name, region, prefix, accessKey }: DestinationBucket,
  { secretKey }: S3Secrets,
): DestinationWriter {
  const address = {
    endpoint: url,
    bucket: name,
    region,
    accessKey,
    secretKey,
  };
  const bucket: Bucket = openBucket(address, {
    timeoutMs: requestTimeoutMs,
    ...(allowPrivate ? {} : { lookup: guardedLookup() }),
  });
  const keyOf = (path: string) => (prefix === '' ? path : `${prefix}/${path}`);
  const attempt = async (run: () => Promise<void>): Promise<WriteResult> => {
    try {
      // The lookup is only called for names.
      if (!allowPrivate) requirePublicHost(new URL(url));
      await run();
      return { status: 200, error: '' };
    } catch (error) {
      return failureOf(error);
    }
  };
  return {
    write: ({ path, contentType, read }, signal) =>
      attempt(async () => {
        const budget = createTimeBudget({
          baseMs: requestTimeoutMs,
          minBytesPerSecond,
          reason: (ms) => new BucketError(null, `not written within ${ms} ms`, { timedOut: true }),
        });
        async function* counted() {
          for await (const chunk of read()) {
            budget.add(chunk.length);
            yield chunk;
          }
        }
        const either = AbortSignal.any([signal, budget.signal]);
        try {
          await bucket.put(keyOf(path), contentType, counted(), either);
        } finally {
          budget.end();
        }
      }),
    remove: (path, signal) => attempt(() => bucket.remove(keyOf(path), signal)),
    close: () => bucket.close(),
  };
}

function putWriter(
  { files, now, allowPrivate }: WriterContext,
  { url }: HttpsAddress,
  { query, headers: secretHeaders }: HttpsSecrets,
): DestinationWriter {
  const send = async (
    path: string,
    request: Pick<FileRequest, 'method' | 'body' | 'headers' | 'totalMs'>,
    signal: AbortSignal,
  ): Promise<WriteResult> => {
    try {
      const headers = { 'user-agent': 'Gleaner-Delivery/1', ...request.headers, ...secretHeaders };
      const outgoing = {
        ...request,
        headers,
        url: `${url}${path}${query}`,
        guarded: !allowPrivate,
      };
      const response = await files.send(outgoing, signal);
      const { status } = response;
      if (status >= 200 && status < 300) return { status, error: '' };
      const retryAfterMs = parseRetryAfter(response.headers, now());
      return { status, error: formatResponseError(response), retryAfterMs };
    } catch (error) {
      return failureOf(error);
    }
  };
  return {
    async write({ path, contentType, read, measure }, signal) {
      const { bytes, sha256 } = await measure();
      const digest = `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;
      const headers = {
        'content-type': contentType,
        'content-length': String(bytes),
        'content-digest': digest,
        'repr-digest': digest,
      };
      const totalMs = requestTimeoutMs + (bytes / minBytesPerSecond) * 1_000;
      return send(
        path,
        {
          method: 'PUT',
          headers,
          body: read(),
          totalMs: Math.round(totalMs),
        },
        signal,
      );
    },
    remove: (path, signal) =>
      send(
        path,
        {
          method: 'DELETE',
          headers: {},
          body: null,
          totalMs: requestTimeoutMs,
        },
        signal,
      ),
    close: () => {},
  };
}

/** Converts an error of a receiver or the network to a result. Throws every other error. */
function failureOf(error: unknown): WriteResult {
  if (error instanceof BucketError) {
    const { status, message, timedOut } = error;
    return { status, error: status === null ? message : `HTTP ${status}: ${message}`, timedOut };
  }
  if (error instanceof Fault && networkCodes.has(error.code))
    return {
      status: null,
      error: error.message,
      final: error.code === 'address_refused',
      timedOut: error.code === 'page_timeout',
    };
  throw error;
}

/** Codes of network faults, as opposed to faults of the result storage and the store. */
const networkCodes: ReadonlySet<string> = new Set([
  'address_refused',
  'network',
  'page_timeout',
  'page_too_large',
]);
