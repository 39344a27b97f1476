import { Readable } from 'node:stream';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { Fault } from '../../base/fault.ts';
import type { Blobs } from '../blobs.ts';
import { toBlocks } from '../blocks.ts';
import { missing, parseJobId, parsePath } from '../path.ts';
import { parseAddress, type S3Address } from './address.ts';
import { contentDisposition } from './disposition.ts';

/** Which storage to use. */
export interface S3Options {
  /** GLEANER_S3_URL: see parseAddress. */
  url: string;
}

/** A file goes out in parts of this size, two at once: the memory that one write takes. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;
const connectMs = 3_000;
/** A connection on which nothing moves for this long is given up. */
const idleMs = 120_000;
const pingMs = 5_000;
/** The most objects that one request removes. */
const removedAtOnce = 1_000;
/** The longest that S3 signs for: seven days. */
const longestLinkSeconds = 604_800;

/**
 * Opens result files in a bucket of an S3-compatible storage, which has to be there. A file appears
 * when its last part has arrived, so it is there whole or not at all. The storage may be down: calls
 * then fail with `unavailable`. Throws ConfigError for an address that can't be one.
 */
export function openS3({ url }: S3Options): Blobs {
  const address = parseAddress(url);
  const { bucket: Bucket } = address;
  const client = connectTo(address, address.endpoint);
  // Signing makes no connection, so the second client costs nothing.
  const signer = connectTo(address, address.publicEndpoint);

  const keyOf = (path: string): string => {
    const { jobId, fileName } = parsePath(path);
    return `${jobId}/${fileName}`;
  };

  const removeKeys = async (keys: readonly string[]): Promise<void> => {
    for (let at = 0; at < keys.length; at += removedAtOnce) {
      const Objects = keys.slice(at, at + removedAtOnce).map((Key) => ({ Key }));
      const { Errors = [] } = await client.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
      );
      const [first] = Errors;
      if (first) throw new Error(`${first.Key}: ${first.Message ?? first.Code}`);
    }
  };

  const listJob = async (jobId: string): Promise<string[]> => {
    const Prefix = `${parseJobId(jobId)}/`;
    const keys: string[] = [];
    try {
      for (let after: string | undefined, more = true; more; more = after !== undefined) {
        const { Contents = [], NextContinuationToken } = await client.send(
          new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken: after }),
        );
        keys.push(...Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key])));
        after = NextContinuationToken;
      }
      return keys;
    } catch (error) {
      throw asFault(error, jobId);
    }
  };

  return {
    engine: 'S3',

    async write(path, contentType, chunks, items) {
      const Key = keyOf(path);
      const { blocks, tally } = toBlocks(chunks);
      let broken: { error: unknown } | undefined;
      const Body = Readable.from(
        remember(blocks, (error) => {
          broken = { error };
        }),
        { objectMode: false },
      );
      const upload = new Upload({
        client,
        params: { Bucket, Key, Body, ContentType: contentType },
        partSize: partBytes,
        queueSize: partsAtOnce,
      });
      try {
        await upload.done();
      } catch (error) {
        Body.destroy();
        // What went wrong with the chunks is the caller's own.
        throw broken ? broken.error : unavailable(error, path);
      }
      return { path, contentType, items: items(), bytes: tally.bytes, sha256: tally.digest() };
    },

    async read(path, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      try {
        const { Body } = await client.send(
          new GetObjectCommand({ Bucket, Key: keyOf(path), ...(Range ? { Range } : {}) }),
        );
        return Body as Readable;
      } catch (error) {
        throw asFault(error, path);
      }
    },

    async size(path) {
      try {
        const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key: keyOf(path) }));
        return ContentLength ?? 0;
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
      try {
        return await getSignedUrl(signer, command, { expiresIn: Math.min(seconds, longestLinkSeconds) });
      } catch (error) {
        throw asFault(error, path);
      }
    },

    listJob,

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
        await client.send(new HeadBucketCommand({ Bucket }), { abortSignal: AbortSignal.timeout(pingMs) });
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
  return new S3Client({
    endpoint,
    region,
    ...(credentials ? { credentials } : {}),
    // A bucket in the host's name needs a name server that plays along.
    forcePathStyle: true,
    requestHandler: { connectionTimeout: connectMs, socketTimeout: idleMs },
    // S3-compatible storages know the newer checksums in part only.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** Passes blocks on and tells the error that ended them. */
async function* remember(
  blocks: AsyncIterable<Buffer>,
  tell: (error: unknown) => void,
): AsyncGenerator<Buffer, void, void> {
  try {
    yield* blocks;
  } catch (error) {
    tell(error);
    throw error;
  }
}

function asFault(error: unknown, path: string): Fault {
  if (error instanceof Fault) return error;
  // A missing bucket, or a key that some storages answer with 404, is the operator's affair.
  const absent = error instanceof S3ServiceException && /^(NoSuchKey|NotFound)$/.test(error.name);
  return absent ? missing(path) : unavailable(error, path);
}

function unavailable(error: unknown, what: string): Fault {
  const { name, message } = error as Error;
  const said = [name, message].filter((word) => word && !/^(Error|UnknownError)$/.test(word)).join(': ');
  return new Fault('unavailable', `The file store failed on ${what}: ${said}`, {
    component: 'file store',
    cause: error,
  });
}
