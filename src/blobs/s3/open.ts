import type { Readable } from 'node:stream';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { create as contentDisposition } from 'content-disposition';
import { Fault } from '../../contract/fault.ts';
import {
  type Blobs,
  convertErrors,
  missingFile,
  parseJobId,
  parsePath,
  toBlocks,
} from '../blobs.ts';
import { parseAddress, type S3Address } from './address.ts';
import { createS3Client, uploadObject } from './client.ts';
import { limitSilence } from './silence.ts';

/** Options for openS3(). */
export interface S3Options {
  /** GLEANER_S3_URL: see parseAddress. */
  url: string;
  /** Name of the URL in messages. Default: GLEANER_S3_URL. */
  name?: string;
  /**
   * Time until a response to a request without a body starts, and maximum silence within a
   * response, in milliseconds. Default: 10,000.
   */
  responseTimeoutMs?: number;
}

const partConcurrency = 2;
const connectTimeoutMs = 3_000;
const socketTimeoutMs = 120_000;
const pingTimeoutMs = 5_000;
const defaultResponseTimeoutMs = 10_000;
/** Maximum objects per delete request (S3). */
const maxDeletedObjects = 1_000;
/** Maximum lifetime of a presigned link: seven days (S3). */
const maxLinkSeconds = 604_800;

/**
 * Opens a result storage in an existing bucket of an S3-compatible service. A file appears when its
 * upload completes, so that it is complete or absent. While the service is down, calls reject with
 * `unavailable`. Throws ConfigError for an invalid URL.
 */
export function openS3({
  url,
  name,
  responseTimeoutMs = defaultResponseTimeoutMs,
}: S3Options): Blobs {
  const address = parseAddress(url, name);
  const { bucket: Bucket } = address;
  const inTime = { requestTimeout: responseTimeoutMs };
  const client = connectTo(address, address.endpoint);
  limitSilence(client, responseTimeoutMs);
  // Signing needs no connection, so the second client costs nothing.
  const signer = connectTo(address, address.publicEndpoint);

  const keyOf = (path: string): string => {
    const { jobId, fileName } = parsePath(path);
    return `${jobId}/${fileName}`;
  };

  const removeKeys = async (keys: readonly string[]): Promise<void> => {
    for (let start = 0; start < keys.length; start += maxDeletedObjects) {
      const Objects = keys.slice(start, start + maxDeletedObjects).map((Key) => ({ Key }));
      const { Deleted = [], Errors = [] } = await client.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects } }),
        inTime,
      );
      const [first] = Errors;
      if (first) throw new Error(`${first.Key}: ${first.Message ?? first.Code}`);
      // A response of a proxy, for example, is empty for the client.
      const deleted = new Set(Deleted.map(({ Key }) => Key));
      const left = Objects.find(({ Key }) => !deleted.has(Key));
      if (left) throw new Error(`${left.Key}: the response does not confirm the deletion`);
    }
  };

  /** Yields the keys that begin with a prefix. */
  async function* listKeys(Prefix: string): AsyncGenerator<string> {
    try {
      for (let after: string | undefined, more = true; more; more = after !== undefined) {
        const {
          Contents = [],
          IsTruncated,
          NextContinuationToken,
        } = await client.send(
          new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken: after }),
          inTime,
        );
        // A response of a proxy, for example, is an empty list for the client.
        if (IsTruncated !== (NextContinuationToken !== undefined))
          throw new Error('the response is not a complete list of objects');
        // The list would have no end.
        if (after !== undefined && NextContinuationToken === after)
          throw new Error('the response repeats the token of its request');
        yield* Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
        after = NextContinuationToken;
      }
    } catch (error) {
      throw asFault(error, Prefix || `bucket ${Bucket}`);
    }
  }

  const listJob = async (jobId: string) => Array.fromAsync(listKeys(`${parseJobId(jobId)}/`));

  return {
    engine: 'S3',

    async write(path, contentType, chunks, items) {
      const { blocks, totals } = toBlocks(chunks);
      const object = {
        bucket: Bucket,
        key: keyOf(path),
        contentType,
        chunks: blocks,
      };
      await uploadObject(client, { ...object, concurrency: partConcurrency }, (error) =>
        unavailable(error, path),
      );
      return {
        path,
        contentType,
        items: items(),
        bytes: totals.bytes,
        sha256: totals.digest(),
      };
    },

    async read(path, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      try {
        const { Body, ...metadata } = await client.send(
          new GetObjectCommand({ Bucket, Key: keyOf(path), ...(Range ? { Range } : {}) }),
          inTime,
        );
        const bytes = Body as Readable;
        if (!isObject(metadata, range)) {
          bytes.destroy();
          throw new Error('the response is not the requested part of an object');
        }
        return convertErrors(bytes, (error) => unavailable(error, path));
      } catch (error) {
        throw asFault(error, path);
      }
    },

    async size(path) {
      try {
        const object = { Bucket, Key: keyOf(path) };
        const found = await client
          .send(new HeadObjectCommand(object), inTime)
          .catch((error: Error) => {
            if (error.name !== 'NotFound') throw error;
            return null;
          });
        if (found !== null) return lengthOf(found);
        // A response to HEAD has no body, and so no code that tells a missing object from a missing
        // bucket.
        const { Body, ...metadata } = await client.send(new GetObjectCommand(object), inTime);
        (Body as Readable).destroy();
        return lengthOf(metadata);
      } catch (error) {
        const fault = asFault(error, path);
        if (fault.code === 'not_found') return null;
        throw fault;
      }
    },

    async presign(path, fileName, seconds) {
      const command = new GetObjectCommand({
        Bucket,
        Key: keyOf(path),
        ResponseContentDisposition: contentDisposition(fileName),
      });
      // The client corrects a clock of this host that is wrong by the times of responses.
      const signingDate = new Date(Date.now() + client.config.systemClockOffset);
      try {
        return await getSignedUrl(signer, command, {
          expiresIn: Math.min(seconds, maxLinkSeconds),
          signingDate,
        });
      } catch (error) {
        throw asFault(error, path);
      }
    },

    listJob,

    list: () => listKeys(''),

    async remove(paths) {
      const keys = paths.map(keyOf);
      try {
        await removeKeys(keys);
      } catch (error) {
        throw asFault(error, paths[0]!);
      }
    },

    async removeJob(jobId) {
      const keys = await listJob(jobId);
      try {
        await removeKeys(keys);
      } catch (error) {
        throw asFault(error, jobId);
      }
    },

    async ping() {
      try {
        await client.send(new HeadBucketCommand({ Bucket }), {
          abortSignal: AbortSignal.timeout(pingTimeoutMs),
        });
      } catch (error) {
        throw unavailable(error, `bucket ${Bucket}`);
      }
    },

    async close() {
      client.destroy();
      signer.destroy();
    },
  };
}

function connectTo({ region, credentials }: S3Address, endpoint: string): S3Client {
  return createS3Client({
    endpoint,
    region,
    ...(credentials ? { credentials } : {}),
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      socketTimeout: socketTimeoutMs,
      throwOnRequestTimeout: true,
    },
  });
}

interface ObjectMetadata {
  $metadata: { requestId?: string | undefined };
  ContentLength?: number | undefined;
  ContentRange?: string | undefined;
  ETag?: string | undefined;
}

/**
 * Returns true for a response with an object, or with the range of one. A login page, for example,
 * is a response to everything. Some services have no ETag for files that others put into a bucket.
 */
function isObject(
  { ETag, ContentRange = '', $metadata: { requestId } }: ObjectMetadata,
  range?: { start: number },
): boolean {
  const isRange = range === undefined || ContentRange.startsWith(`bytes ${range.start}-`);
  return (ETag ?? requestId) !== undefined && isRange;
}

/** Returns the stated size of an object. */
function lengthOf(metadata: ObjectMetadata): number {
  const { ContentLength } = metadata;
  if (ContentLength === undefined || !isObject(metadata))
    throw new Error('the response is not that of an S3 service, or has no Content-Length');
  return ContentLength;
}

/**
 * Converts an error of the client. A 404 without a code is not a response of the storage, but of a
 * proxy, for example.
 */
function asFault(error: unknown, path: string): Fault {
  if (error instanceof Fault) return error;
  const { Code = '' } = error as { Code?: string };
  // Some services respond with NotFound instead of NoSuchKey. A missing bucket is a configuration
  // error.
  const isAbsent = error instanceof S3ServiceException && /^(NoSuchKey|NotFound)$/.test(Code);
  return isAbsent ? missingFile(path) : unavailable(error, path);
}

function unavailable(error: unknown, what: string): Fault {
  const { name, message } = error as Error;
  const reason = [name, message]
    .filter((word) => word && !/^(Error|UnknownError)$/.test(word))
    .join(': ');
  return new Fault('unavailable', `The file store failed on ${what}: ${reason}`, {
    component: 'file store',
    cause: error,
  });
}
