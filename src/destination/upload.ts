import { type Bucket, hasContents, type UploadedPart } from '../blobs/s3/bucket.ts';
import { fixedBlocks } from './blocks.ts';

/** Size of the parts of a multipart upload, and the memory of an upload. A file has at most 10,000 parts: 80 GB. */
export const partBytes = 8 * 1024 * 1024;

/** A file to upload. */
export interface UploadFile {
  /** Name of the object. */
  key: string;
  contentType: string;
  /** Contents, the same in every attempt. */
  chunks: AsyncIterable<Uint8Array>;
}

/** The unfinished upload of a file, which is stored between attempts. */
export interface UploadState {
  /** Upload of an earlier attempt; null if there was none. */
  readonly id: string | null;
  /** Stores the upload. Rejects if another process has taken over the delivery. */
  save(id: string): Promise<void>;
}

/**
 * Writes a file to a bucket: with one request if it has one part, else with a multipart upload. An upload that an
 * earlier attempt began is resumed: parts that the bucket has with the same contents are not sent again. Holds one
 * part in memory.
 */
export async function uploadFile(
  bucket: Bucket,
  file: UploadFile,
  state: UploadState,
  signal: AbortSignal,
): Promise<void> {
  const { key, contentType, chunks } = file;
  const etags: string[] = [];
  let resumed: Resumed | null = null;
  for await (const { block, isLast } of fixedBlocks(chunks, partBytes)) {
    signal.throwIfAborted();
    if (isLast && etags.length === 0) return bucket.put(key, contentType, block, signal);
    resumed ??= await resumeUpload(bucket, file, state, signal);
    const number = etags.length + 1;
    const received = resumed.parts.get(number);
    etags.push(
      received !== undefined && hasContents(received, block)
        ? received.etag
        : await bucket.putPart({ key, upload: resumed.id, number }, block, signal),
    );
  }
  await bucket.completeUpload(key, resumed!.id, etags, signal);
}

interface Resumed {
  id: string;
  parts: ReadonlyMap<number, UploadedPart>;
}

/** Returns the upload of an earlier attempt if the bucket still has it, else begins and stores a new one. */
async function resumeUpload(
  bucket: Bucket,
  { key, contentType }: UploadFile,
  state: UploadState,
  signal: AbortSignal,
): Promise<Resumed> {
  const parts = state.id === null ? null : await bucket.listParts(key, state.id, signal);
  if (state.id !== null && parts !== null) return { id: state.id, parts };
  const id = await bucket.beginUpload(key, contentType, signal);
  await state.save(id);
  return { id, parts: new Map() };
}
