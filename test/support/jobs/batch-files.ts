import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { placedContents } from '../../../src/api/rest/file-place.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import { segmentWithRows } from '../../../src/jobs/records.ts';
import { restoreFile } from '../../../src/jobs/steps/restore-file.ts';
import type { Segment } from '../../../src/store/batches.ts';
import type { StoredFile } from '../../../src/store/documents.ts';

/** Reads the file of a batch, which may be in the merged file of its job. */
export async function readBatchFile(context: JobContext, { path }: StoredFile): Promise<Buffer> {
  const { blobs } = context;
  if ((await blobs.size(path)) !== null) return buffer(await blobs.read(path));
  const place = (await restoreFile(context, path))!;
  return Buffer.concat(await Array.fromAsync(await placedContents(blobs, place).read()));
}

/**
 * Gives each batch of an ended job a segment with its rows again, as before the job ended. The
 * records are not compressed.
 */
export async function separateSegments({ store, blobs }: JobContext, jobId: string): Promise<void> {
  for await (const batch of store.batches.read(jobId)) {
    const moved = segmentWithRows(batch);
    if (moved === undefined) continue;
    const { start, end, items } = moved.body!;
    const rows = await buffer(await blobs.read(moved.path, { start, end: end - 1 }));
    const path = `${jobId}/segment_${batch.seq}`;
    const file = await blobs.write(path, 'text/plain', Readable.from([rows]), () => items);
    const records: Segment['records'] = {};
    for (const [index, [offset, ...others]] of Object.entries(moved.records))
      records[Number(index)] = [offset - start, ...others];
    const body = { start: 0, end: end - start, items };
    const segment: Segment = {
      ...moved,
      path,
      bytes: file.bytes,
      sha256: file.sha256,
      records,
      body,
    };
    await store.batches.writeAll([], [[{ id: batch.id, jobId }, { segments: [segment] }]]);
  }
}
