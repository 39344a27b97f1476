import { Readable } from 'node:stream';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

/** Part size of multipart uploads; with the concurrency it determines the memory of an upload. */
export const partBytes = 8 * 1024 * 1024;

/** Creates a client of an S3-compatible service. */
export function createS3Client(config: S3ClientConfig): S3Client {
  return new S3Client({
    // Virtual-hosted buckets require DNS records that self-hosted services rarely have.
    forcePathStyle: true,
    // S3-compatible services support the newer checksums only partly.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...config,
  });
}

/** An object to upload. */
export interface UploadRequest {
  bucket: string;
  key: string;
  contentType: string;
  chunks: AsyncIterable<Uint8Array>;
  /** Parts sent at a time. */
  concurrency: number;
}

/**
 * Uploads an object, which appears when it is complete: with one request, or in parts if it has
 * more than 8 MiB. The parts of a failed upload are removed, if the service responds. Rejects with
 * the error of the chunks, or, after `convert`, with the error of the client or of a response that
 * has no ETag, or as soon as `signal` is aborted.
 */
export async function uploadObject(
  client: S3Client,
  { bucket, key, contentType, chunks, concurrency }: UploadRequest,
  convert: (error: unknown) => unknown,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  let sourceFailure: { error: unknown } | undefined;
  async function* observed() {
    try {
      yield* chunks;
    } catch (error) {
      sourceFailure = { error };
      throw error;
    }
  }
  const body = Readable.from(observed(), { objectMode: false });
  // Its own signal, since Upload sets the handler of the one that it gets.
  const abortController = new AbortController();
  const abort = () => abortController.abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    const params = {
      Bucket: bucket,
      Key: key,
      Body: body,
      ContentType: contentType,
    };
    const options = { partSize: partBytes, queueSize: concurrency, abortController };
    const { ETag } = await new Upload({ client, params, ...options }).done();
    // A console or a login page, for example, responds to everything with a web page.
    if (!ETag) throw new Error('the response has no ETag, so it is not that of an S3 service');
  } catch (error) {
    body.destroy();
    throw sourceFailure ? sourceFailure.error : convert(error);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
