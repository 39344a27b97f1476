import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findEngine } from '../../test/engines/missing.ts';
import { startS3 } from '../../test/engines/s3.ts';
import { type Config, ConfigError, loadConfig } from '../base/config.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { openFiles } from '../blobs/files/open.ts';
import { openS3 } from '../blobs/s3/open.ts';
import { aSegment, aSuccess, aTime, storeJob } from '../store/conformance/samples.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { createBackup } from './create.ts';
import { restoreFrom } from './restore.ts';
import { type BackupTarget, bucketTarget } from './targets.ts';

const server = await findEngine(startS3());
const absent = 'missing' in server ? ` (${server.missing})` : '';
const url = 'missing' in server ? '' : server.url;
afterAll(async () => {
  if (!('missing' in server)) await server.stop();
});

const [first, second] = ['gleaner-2026-03-01T02-00-00Z', 'gleaner-2026-03-02T02-00-00Z'] as const;

describe.skipIf(absent !== '')(`bucketTarget()${absent}`, () => {
  let folder: string;
  let config: Config;
  let bucket: Blobs;
  let place: BackupTarget;
  let jobId: string;
  const { signal } = new AbortController();
  const staging = () => join(folder, 'staging');
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gleaner-bucket-'));
    config = loadConfig({ GLEANER_DATA_DIR: join(folder, 'data') });
    jobId = await storeWork();
    bucket = openS3({ url });
    place = bucketTarget(
      bucket,
      staging(),
      async (path) => (await createBackup(config, path)).lost.length,
    );
    return async () => {
      for (const { name } of await place.list()) await place.delete(name);
      await bucket.close();
      rmSync(folder, { recursive: true });
    };
  });

  /** Stores a job with a result file, and returns its id. */
  async function storeWork(): Promise<string> {
    const store = openSqliteStore({ path: join(config.dataDir, 'gleaner.db') });
    const { job, batches } = await storeJob(store, 1);
    await store.batches.queue(job.id, 1, aTime);
    const claimed = (await store.batches.claim(batches[0]!, 0, aTime, aTime + 1_000))!;
    const blobs = openFiles({ directory: join(config.dataDir, 'results') });
    const records = async function* () {
      yield 'records';
    };
    const { sha256 } = await blobs.write(`${job.id}/segment_0`, 'text/plain', records(), () => 1);
    await blobs.close();
    await store.batches.recordOutcomes(claimed, 1, {
      outcomes: { 0: aSuccess(1) },
      segment: { ...aSegment(`${job.id}/segment_0`, 0), sha256 },
    });
    await store.close();
    return job.id;
  }

  test('uploads backups that can be restored by name', async () => {
    expect(await place.backUp(first, signal)).toBe(0);
    expect(existsSync(staging())).toBe(false);
    expect(await place.list()).toEqual([
      { name: first, at: Date.parse('2026-03-01T02:00:00Z'), isComplete: true },
    ]);
    const target = join(folder, 'restored');
    expect(await restoreFrom(`${url}/${first}`, target)).toMatchObject({ files: 2 });
    expect(readFileSync(join(target, 'results', jobId, 'segment_0'), 'utf8')).toBe('records');
    expect(existsSync(`${target}.download`)).toBe(false);
    const store = openSqliteStore({ path: join(target, 'gleaner.db') });
    expect((await store.jobs.get(jobId))?.id).toBe(jobId);
    await store.close();
  });

  test('deletes one backup and its files only', async () => {
    await place.backUp(first, signal);
    await place.backUp(second, signal);
    await place.delete(first);
    expect((await place.list()).map(({ name }) => name)).toEqual([second]);
    expect(await bucket.listJob(first)).toEqual([]);
    expect(await bucket.listJob(`${first}.${jobId}`)).toEqual([]);
    expect(await bucket.listJob(`${second}.${jobId}`)).toHaveLength(1);
  });

  test('lists an interrupted upload as incomplete, refuses to restore it, and deletes all of it', async () => {
    const interrupted = bucketTarget(
      {
        ...bucket,
        write: (path, ...rest) => {
          if (path.endsWith('/gleaner.db')) throw new Error('killed');
          return bucket.write(path, ...rest);
        },
      },
      staging(),
      async (path) => (await createBackup(config, path)).lost.length,
    );
    await expect(interrupted.backUp(first, signal)).rejects.toThrow('killed');
    expect(await place.list()).toMatchObject([{ name: first, isComplete: false }]);
    const refused = restoreFrom(`${url}/${first}`, join(folder, 'restored'));
    await expect(refused).rejects.toThrow(`the bucket has no complete backup "${first}"`);
    expect(await bucket.listJob(`${first}.${jobId}`)).toHaveLength(1);
    await place.delete(first);
    expect(await bucket.listJob(`${first}.${jobId}`)).toEqual([]);
    expect(await place.list()).toEqual([]);
  });

  test('refuses the URL of a bucket without a backup, and one that is not a bucket', async () => {
    const target = join(folder, 'restored');
    await expect(restoreFrom(`${url}/monday`, target)).rejects.toThrow(
      /no complete backup "monday"$/,
    );
    await expect(restoreFrom('https://s3.example/x', target)).rejects.toThrow(ConfigError);
    expect(existsSync(target)).toBe(false);
  });
});
