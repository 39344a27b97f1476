import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Fault } from '../../contract/fault.ts';

/** A bucket of an S3-compatible service that a user entered. */
export interface BucketAddress {
  /** Scheme, host, and port of the service. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKey: string;
  secretKey: string;
}

/** Options of a BucketError. */
interface BucketErrorOptions {
  cause?: unknown;
  timedOut?: boolean;
}

/** Response of the service that is not a success. */
export class BucketError extends Error {
  /** HTTP status; null if there was no response. */
  readonly status: number | null;
  /** True if the service was too slow. */
  readonly timedOut: boolean;

  constructor(status: number | null, message: string, { cause, timedOut = false }: BucketErrorOptions = {}) {
    super(message, { cause });
    this.name = 'BucketError';
    this.status = status;
    this.timedOut = timedOut;
  }
}

/** A part that the service has received. */
export interface UploadedPart {
  etag: string;
  bytes: number;
}

/**
 * Writes objects to a bucket. Every call rejects with a BucketError, with a fault of the lookup, or with the signal's
 * reason if aborted. Each request has a timeout, and a response of more than 1 MiB is an error.
 */
export interface Bucket {
  put(key: string, contentType: string, body: Buffer, signal: AbortSignal): Promise<void>;
  remove(key: string, signal: AbortSignal): Promise<void>;
  /** Begins a multipart upload and returns its id. The object appears when the upload is completed. */
  beginUpload(key: string, contentType: string, signal: AbortSignal): Promise<string>;
  /** Returns the received parts of an upload by number, or null if there is no such upload. */
  listParts(key: string, upload: string, signal: AbortSignal): Promise<Map<number, UploadedPart> | null>;
  /** Sends a part and returns its ETag. */
  putPart(place: PartPlace, body: Buffer, signal: AbortSignal): Promise<string>;
  /** Completes an upload with the ETags of its parts, from number 1. */
  completeUpload(key: string, upload: string, etags: readonly string[], signal: AbortSignal): Promise<void>;
  abortUpload(key: string, upload: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Place of a part. `number` starts at 1. */
export interface PartPlace {
  key: string;
  upload: string;
  number: number;
}

/** Options for openBucket(). */
export interface BucketOptions {
  /** Resolves and checks host names; `dns.lookup` by default. */
  lookup?: LookupFunction;
  /** Timeout of a request, which sends at most one part, in milliseconds. */
  timeoutMs: number;
}

/** Maximum size of a response: those of the commands in use are far smaller. */
const maxResponseBytes = 1024 * 1024;
/** Maximum pages of a list of parts: an upload has up to 10,000 parts, 1,000 per page. */
const maxPartPages = 10;
/** Maximum characters kept of an error message. */
const maxMessageLength = 500;

/** Opens a bucket. Connections are made with the first call. */
export function openBucket(address: BucketAddress, options: BucketOptions): Bucket {
  const { bucket: Bucket } = address;
  const client = connect(address, options);
  const call = async <T>(
    signal: AbortSignal,
    send: (options: { abortSignal: AbortSignal }) => Promise<T>,
  ) => {
    signal.throwIfAborted();
    const timeout = AbortSignal.timeout(options.timeoutMs);
    try {
      return await send({ abortSignal: AbortSignal.any([signal, timeout]) });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (timeout.aborted)
        throw new BucketError(null, `no response within ${options.timeoutMs} ms`, {
          cause: error,
          timedOut: true,
        });
      throw asBucketError(error);
    }
  };

  return {
    put: (Key, ContentType, Body, signal) =>
      call(signal, async (how) => {
        const parameters = { Bucket, Key, ContentType, Body, ContentMD5: md5(Body).toString('base64') };
        await client.send(new PutObjectCommand(parameters), how);
      }),
    remove: (Key, signal) =>
      call(signal, async (how) => {
        await client.send(new DeleteObjectCommand({ Bucket, Key }), how);
      }),
    beginUpload: (Key, ContentType, signal) =>
      call(signal, async (how) => {
        const command = new CreateMultipartUploadCommand({ Bucket, Key, ContentType });
        const { UploadId } = await client.send(command, how);
        if (UploadId === undefined) throw new Error('the response has no UploadId');
        return UploadId;
      }),
    listParts: (Key, UploadId, signal) =>
      call(signal, (how) => listParts(client, { Bucket, Key, UploadId }, how)),
    putPart: ({ key: Key, upload: UploadId, number: PartNumber }, Body, signal) =>
      call(signal, async (how) => {
        const ContentMD5 = md5(Body).toString('base64');
        const command = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body, ContentMD5 });
        const { ETag } = await client.send(command, how);
        if (ETag === undefined) throw new Error('the response has no ETag');
        return ETag;
      }),
    completeUpload: (Key, UploadId, etags, signal) =>
      call(signal, async (how) => {
        const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
        const upload = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
        await client.send(new CompleteMultipartUploadCommand(upload), how);
      }),
    abortUpload: (Key, UploadId, signal) =>
      call(signal, async (how) => {
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), how);
      }),
    close: () => client.destroy(),
  };
}

/** Returns whether a received part has the contents, by the MD5 in its ETag. */
export function hasContents({ etag, bytes }: UploadedPart, body: Buffer): boolean {
  return bytes === body.length && etag.replaceAll('"', '') === md5(body).toString('hex');
}

const md5 = (body: Buffer) => createHash('md5').update(body).digest();

function connect(
  { endpoint, region, accessKey, secretKey }: BucketAddress,
  { lookup, timeoutMs }: BucketOptions,
): S3Client {
  const agent = { keepAlive: true, ...(lookup === undefined ? {} : { lookup }) };
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    forcePathStyle: true,
    // The schedule of deliveries repeats failed requests.
    maxAttempts: 1,
    requestHandler: {
      httpAgent: new http.Agent(agent),
      httpsAgent: new https.Agent(agent),
      connectionTimeout: timeoutMs,
    },
    // S3-compatible services support the newer checksums only partly.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const { requestHandler } = client.config;
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = async (...request) => {
    const result = await handle(...request);
    result.response.body = limitBody(result.response);
    return result;
  };
  return client;
}

/** Returns the body of a response, which fails after the maximum size. Throws if its stated length is larger. */
function limitBody({ headers, body }: { headers: Record<string, string>; body?: unknown }): unknown {
  if (!(body instanceof Readable)) return body;
  const tooLarge = () => new Error(`the response has more than ${maxResponseBytes} bytes`);
  if (Number(headers['content-length'] ?? 0) > maxResponseBytes) {
    body.destroy();
    throw tooLarge();
  }
  const limited = async function* () {
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxResponseBytes) throw tooLarge();
      yield chunk;
    }
  };
  return Readable.from(limited(), { objectMode: false });
}

async function listParts(
  client: S3Client,
  upload: { Bucket: string; Key: string; UploadId: string },
  options: { abortSignal: AbortSignal },
): Promise<Map<number, UploadedPart> | null> {
  const parts = new Map<number, UploadedPart>();
  try {
    for (let after: string | undefined, page = 0, more = true; more; page += 1) {
      if (page === maxPartPages) throw new Error(`the list of parts has more than ${maxPartPages} pages`);
      const found = await client.send(new ListPartsCommand({ ...upload, PartNumberMarker: after }), options);
      for (const { PartNumber, ETag, Size } of found.Parts ?? [])
        parts.set(PartNumber ?? 0, { etag: ETag ?? '', bytes: Size ?? 0 });
      after = found.NextPartNumberMarker;
      more = found.IsTruncated === true && after !== undefined;
    }
    return parts;
  } catch (error) {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return null;
    throw error;
  }
}

/** Converts an error of the client. A fault of the lookup is returned as it is. */
function asBucketError(thrown: unknown): Error {
  if (thrown instanceof Fault) return thrown;
  const { name, message, $metadata, $response } = thrown as Error & Partial<S3ServiceException>;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode ?? null;
  const words = [name, message].filter((word) => word && !/^(?:Error|UnknownError)$/.test(word));
  return new BucketError(status, words.join(': ').slice(0, maxMessageLength), { cause: thrown });
}
