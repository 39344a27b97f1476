import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { startS3 } from '../../test/engines/s3.ts';
import { type Bucket, openBucket } from '../blobs/s3/bucket.ts';
import { openS3 } from '../blobs/s3/open.ts';
import { fixedBlocks } from './blocks.ts';
import { partBytes, uploadFile } from './upload.ts';

const never = new AbortController().signal;
const s3 = await startS3();

/** Contents that differ in every part. */
function contentsOf(bytes: number): Buffer {
  const contents = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 4_096) contents.writeUInt32LE(at, at);
  return contents;
}

async function* inChunks(contents: Buffer, size = 300_001): AsyncGenerator<Buffer> {
  for (let start = 0; start < contents.length; start += size) yield contents.subarray(start, start + size);
}

test.each([
  [0, [0]],
  [3, [3]],
  [4, [4]],
  [5, [4, 1]],
  [12, [4, 4, 4]],
])('fixedBlocks() splits %i bytes into blocks of 4', async (bytes, expected) => {
  const contents = contentsOf(bytes + 4).subarray(0, bytes);
  const blocks: Buffer[] = [];
  const lasts: boolean[] = [];
  for await (const { block, isLast } of fixedBlocks(inChunks(contents, 3), 4)) {
    blocks.push(Buffer.from(block));
    lasts.push(isLast);
  }
  expect(blocks.map(({ length }) => length)).toEqual(expected);
  expect(Buffer.concat(blocks)).toEqual(contents);
  expect(lasts).toEqual(expected.map((_, index) => index === expected.length - 1));
});

describe.skipIf('missing' in s3)(`uploadFile()${'missing' in s3 ? ` (${s3.missing})` : ''}`, () => {
  if ('missing' in s3) return;
  const address = {
    endpoint: `http://127.0.0.1:${s3.port}`,
    bucket: 'results',
    region: 'us-east-1',
    accessKey: 'gleaner',
    secretKey: 'gleaner/secret',
  };
  const bucket = openBucket(address, { timeoutMs: 30_000 });
  const reader = openS3({ url: s3.url });
  afterAll(async () => {
    bucket.close();
    await reader.close();
    await s3.stop();
  });

  const jobId = '5b1f0b86-4c0e-4d55-9d5f-2f4a3f4a8f10';
  const read = async (name: string) => buffer(await reader.read(`${jobId}/${name}`));
  const listed = async () => (await reader.listJob(jobId)).map((path) => path.slice(jobId.length + 1));
  const file = (name: string, contents: Buffer) => ({
    key: `${jobId}/${name}`,
    contentType: 'text/csv',
    chunks: inChunks(contents),
  });

  /** Wraps the bucket to count the calls by name, and to fail at the `last`-th one, before or after its effect. */
  function observed(last = Number.POSITIVE_INFINITY, when: 'before' | 'after' = 'before') {
    const calls: string[] = [];
    const wrapped = new Proxy(bucket, {
      get: (target, name: keyof Bucket) =>
        name === 'close'
          ? target.close
          : async (...parameters: unknown[]) => {
              calls.push(name);
              if (calls.length === last && when === 'before') throw new Error('crashed');
              const run = target[name] as (...parameters: unknown[]) => Promise<unknown>;
              const result = await run(...parameters);
              if (calls.length === last) throw new Error('crashed');
              return result;
            },
    });
    return { bucket: wrapped, calls };
  }

  /** The upload as a store keeps it. */
  const stored = () => {
    const state = {
      id: null as string | null,
      async save(id: string) {
        state.id = id;
      },
    };
    return state;
  };

  test('writes a file of up to one part with one request', async () => {
    for (const bytes of [0, 5, partBytes]) {
      const { bucket: counted, calls } = observed();
      const contents = contentsOf(bytes + 4).subarray(0, bytes);
      await uploadFile(counted, file('small.csv', contents), stored(), never);
      expect(calls).toEqual(['put']);
      expect(await read('small.csv')).toEqual(contents);
    }
  });

  test.each(['before', 'after'] as const)('resumes a large file after a crash %s any call', async (when) => {
    const contents = contentsOf(2 * partBytes + 12_345);
    let last = 1;
    for (; ; last += 1) {
      const name = `large-${when}-${last}.csv`;
      const state = stored();
      const victim = observed(last, when);
      const crashed = await uploadFile(victim.bucket, file(name, contents), state, never).then(
        () => false,
        () => true,
      );
      if (!crashed) {
        expect(victim.calls).toEqual(['beginUpload', 'putPart', 'putPart', 'putPart', 'completeUpload']);
        break;
      }
      const next = observed();
      await uploadFile(next.bucket, file(name, contents), state, never);
      const sentBefore =
        victim.calls.filter((call) => call === 'putPart').length - (when === 'before' ? 1 : 0);
      const isGone = when === 'after' && victim.calls.includes('completeUpload');
      if (state.id !== null && last > 1 && !isGone && !victim.calls.includes('completeUpload'))
        expect(next.calls.filter((call) => call === 'putPart')).toHaveLength(3 - sentBefore);
      expect((await read(name)).equals(contents), `crash ${when} call ${last}`).toBe(true);
    }
    expect(last).toBe(6);
    expect((await listed()).filter((name) => name.startsWith(`large-${when}`))).toHaveLength(6);
  });

  test('sends a part again whose contents differ', async () => {
    const contents = contentsOf(partBytes + 10);
    const state = stored();
    const other = Buffer.from(contents).fill(7, 0, 10);
    await expect(uploadFile(observed(3).bucket, file('changed.csv', other), state, never)).rejects.toThrow();
    const { bucket: counted, calls } = observed();
    await uploadFile(counted, file('changed.csv', contents), state, never);
    expect(calls).toEqual(['listParts', 'putPart', 'putPart', 'completeUpload']);
    expect((await read('changed.csv')).equals(contents)).toBe(true);
  });

  test('begins again if the bucket no longer has the upload', async () => {
    const contents = contentsOf(partBytes + 10);
    const state = stored();
    await expect(uploadFile(observed(3).bucket, file('gone.csv', contents), state, never)).rejects.toThrow();
    await bucket.abortUpload(`${jobId}/gone.csv`, state.id!, never);
    const first = state.id;
    await uploadFile(bucket, file('gone.csv', contents), state, never);
    expect(state.id).not.toBe(first);
    expect((await read('gone.csv')).equals(contents)).toBe(true);
  });

  test('does not send a part if the upload cannot be stored', async () => {
    const contents = contentsOf(partBytes + 10);
    const { bucket: counted, calls } = observed();
    const lost = { id: null, save: () => Promise.reject(new Error('claim lost')) };
    await expect(uploadFile(counted, file('lost.csv', contents), lost, never)).rejects.toThrow('claim lost');
    expect(calls).toEqual(['beginUpload']);
  });

  test('names the response of a service that refuses', async () => {
    const refused = openBucket({ ...address, secretKey: 'wrong' }, { timeoutMs: 5_000 });
    await expect(refused.put('x', 'text/plain', Buffer.from('x'), never)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('SignatureDoesNotMatch'),
    });
    refused.close();
    const absent = openBucket({ ...address, bucket: 'absent' }, { timeoutMs: 5_000 });
    await expect(absent.put('x', 'text/plain', Buffer.from('x'), never)).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('NoSuchBucket'),
    });
    absent.close();
  });
});
