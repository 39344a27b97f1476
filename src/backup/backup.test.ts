import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Config, ConfigError, loadConfig } from '../base/config.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { openFiles } from '../blobs/files/open.ts';
import type { Batch, Segment } from '../store/batches.ts';
import { aTime, storeJob } from '../store/conformance/samples.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { createBackup } from './create.ts';
import { restoreBackup } from './restore.ts';

let folder: string;
let config: Config;
let store: Store;
let blobs: Blobs;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-backup-'));
  const dataDir = join(folder, 'data');
  config = loadConfig({ GLEANER_DATA_DIR: dataDir });
  store = openSqliteStore({ path: join(dataDir, 'gleaner.db') });
  blobs = openFiles({ directory: join(dataDir, 'results') });
  return async () => {
    await store.close();
    await blobs.close();
    rmSync(folder, { recursive: true });
  };
});

const backup = () => join(folder, 'backup');
const target = () => join(folder, 'restored');
const contents = (place: string) => readFileSync(join(target(), 'results', place), 'utf8');

async function* text(value: string) {
  yield value;
}

const write = (path: string, value: string) =>
  blobs.write(path, 'text/plain', text(value), () => 1);

const setSegments = ({ id, jobId }: Batch, segments: Segment[]) =>
  store.batches.writeAll([], [[{ id, jobId }, { segments }]]);

/** Stores a job with one claimed batch, whose first unit has a record in a segment. */
async function storeWork() {
  const { job, batches } = await storeJob(store, 1);
  await store.batches.queue(job.id, 1, aTime);
  const [batch] = batches;
  const claimed = (await store.batches.claim(batch!, batch!.attempt, aTime, aTime + 1_000))!;
  const write = async (name: string) => {
    const path = `${job.id}/${name}`;
    const { sha256 } = await blobs.write(path, 'text/plain', text(name), () => 1);
    const segment: Segment = {
      path,
      bytes: 0,
      sha256,
      encoding: 'plain',
      records: { 0: [0, name.length, crc32(name)] },
      body: null,
    };
    const outcomes = { 0: { status: 'SUCCESS', attempt: claimed.attempt, readAt: 0 } } as const;
    return { path, segment, outcomes };
  };
  const first = await write('segment_first');
  expect(
    await store.batches.recordOutcomes(claimed, claimed.attempt, {
      outcomes: first.outcomes,
      segment: first.segment,
    }),
  ).toBe(true);
  /** Ends the batch with another segment, and removes the first one. */
  const replace = async () => {
    const last = await write('segment_last');
    const failed = { status: 'FAILED', code: 'network', message: '' } as const;
    const outcomes = Object.fromEntries(claimed.units.map((_, index) => [index, failed]));
    expect(
      await store.batches.recordOutcomes(claimed, claimed.attempt, {
        outcomes,
        segment: last.segment,
        end: { file: null, at: aTime },
      }),
    ).toBe(true);
    await blobs.remove([first.path]);
    return last.path;
  };
  return { job, first: first.path, replace };
}

describe('createBackup()', () => {
  test('copies the referenced files only', async () => {
    const { job, first } = await storeWork();
    await blobs.write(`${job.id}/segment_unreferenced`, 'text/plain', text('?'), () => 1);
    expect(await createBackup(config, backup())).toMatchObject({ files: 2, lost: [] });
    await restoreBackup(backup(), target());
    expect(contents(first)).toBe('segment_first');
    expect(readdirSync(join(target(), 'results', job.id))).toEqual(['segment_first']);
  });

  test('copies the generated secrets', async () => {
    await storeWork();
    writeFileSync(join(config.dataDir, 'secrets.txt'), 'a secret');
    await createBackup(config, backup());
    await restoreBackup(backup(), target());
    expect(readFileSync(join(target(), 'secrets.txt'), 'utf8')).toBe('a secret');
  });

  test('copies the database again if the service replaced a file meanwhile', async () => {
    const { job, replace } = await storeWork();
    let last = '';
    let copies = 0;
    const replacing: Promise<unknown>[] = [];
    const made = await createBackup(config, backup(), (step) => {
      if (step !== 'database') return;
      copies += 1;
      if (copies === 1) replacing.push(replace().then((path) => (last = path)));
    });
    await Promise.all(replacing);
    expect(made.lost).toEqual([]);
    await restoreBackup(backup(), target());
    const restored = openSqliteStore({ path: join(target(), 'gleaner.db') });
    const [batch] = await Array.fromAsync(restored.batches.read(job.id));
    await restored.close();
    expect(batch!.segments.map(({ path }) => contents(path))).toEqual(
      batch!.segments.map(({ path }) => path.slice(path.indexOf('/') + 1)),
    );
    expect([last, `${job.id}/segment_first`]).toContain(batch!.segments[0]!.path);
  });

  test('copies segments from the merged file that replaced them meanwhile', async () => {
    const { job, batches } = await storeJob(store, 2);
    const rows = ['{"a":1},\n{"a":2}', '{"b":1}'];
    const merged = await write(`${job.id}/full.json`, `[\n${rows.join(',\n')}\n]\n`);
    const segments: Segment[] = [];
    for (const [index, batch] of batches.entries()) {
      const body = { start: 2, end: 2 + rows[index]!.length, items: 1 };
      const { path, bytes, sha256 } = await write(
        `${job.id}/batch_${index}`,
        `[\n${rows[index]}\n]\n`,
      );
      segments.push({ path, bytes, sha256, encoding: 'plain', records: {}, body });
      await setSegments(batch, [segments[index]!]);
    }
    let copies = 0;
    /** Ends the job, as the service does it. */
    const endJob = () => {
      let start = 2;
      for (const [index, batch] of batches.entries()) {
        const body = { start, end: start + rows[index]!.length, items: 1 };
        start = body.end + 2;
        const { path, bytes, sha256 } = merged;
        void setSegments(batch, [{ ...segments[index]!, path, bytes, sha256, body }]);
        rmSync(join(config.dataDir, 'results', segments[index]!.path));
      }
      void store.jobs.update({ id: job.id }, { file: merged });
    };
    const made = await createBackup(config, backup(), (step) => {
      if (step === 'database' && copies++ === 0) endJob();
    });
    expect([copies, made.lost]).toEqual([1, []]);
    await restoreBackup(backup(), target());
    for (const [index, { path }] of segments.entries())
      expect(contents(path)).toBe(`[\n${rows[index]}\n]\n`);
  });

  test('reports files that the result storage has lost, and completes', async () => {
    const { first } = await storeWork();
    await blobs.remove([first]);
    expect(await createBackup(config, backup())).toMatchObject({ files: 1, lost: [first] });
    await restoreBackup(backup(), target());
  });

  test('refuses a folder that is not empty, a folder without data, and the distributed stack', async () => {
    const nothing = loadConfig({ GLEANER_DATA_DIR: join(folder, 'nothing') });
    await expect(createBackup(nothing, backup())).rejects.toThrow(/^No Gleaner data in /);
    await expect(createBackup(config, config.dataDir)).rejects.toThrow(/ is not empty\. /);
    const distributed = loadConfig({
      MONGODB_URI: 'mongodb://localhost',
      NATS_URL: 'nats://localhost',
    });
    await expect(createBackup(distributed, backup())).rejects.toThrow(ConfigError);
  });
});

describe('restoreBackup()', () => {
  /** Returns the refusal of a backup, after which the target contains no data. */
  async function refusal(): Promise<unknown> {
    const refused = await restoreBackup(backup(), target()).catch((error: unknown) => error);
    const there = loadConfig({ GLEANER_DATA_DIR: target() });
    await expect(createBackup(there, join(folder, 'other'))).rejects.toThrow(
      /^No Gleaner data in /,
    );
    return refused;
  }

  test.each([
    ['results file', (path: string) => `results/${path}`],
    ['database', () => 'gleaner.db'],
  ])('refuses a damaged %s', async (_name, pathOf) => {
    const { first } = await storeWork();
    await createBackup(config, backup());
    appendFileSync(join(backup(), pathOf(first)), '!');
    expect(await refusal()).toMatchObject({
      code: 'malformed',
      message: expect.stringMatching(
        / is damaged: it has \d+ bytes and the SHA-256 \w{64}, the manifest says /,
      ),
    });
  });

  test('refuses a backup with a missing file', async () => {
    const { first } = await storeWork();
    await createBackup(config, backup());
    rmSync(join(backup(), 'results', first));
    expect(await refusal()).toMatchObject({
      message: `${join(backup(), 'results', first)} is missing`,
    });
  });

  test('refuses a manifest that was cut off, and paths outside of the data folder', async () => {
    await storeWork();
    await createBackup(config, backup());
    const manifest = join(backup(), 'manifest.jsonl');
    const lines = readFileSync(manifest, 'utf8').trimEnd().split('\n');
    writeFileSync(manifest, `${lines.slice(0, -1).join('\n')}\n`);
    expect(await refusal()).toMatchObject({
      code: 'malformed',
      message: expect.stringContaining('damaged'),
    });
    writeFileSync(manifest, readFileSync(manifest, 'utf8').slice(0, -5));
    expect(await refusal()).toMatchObject({
      code: 'malformed',
      message: expect.stringContaining('not JSON'),
    });
    writeFileSync(manifest, lines.join('\n').replace('results/', 'results/../../'));
    expect(await refusal()).toMatchObject({
      message: expect.stringMatching(/^the manifest names "results\/\.\./),
    });
  });

  test.each(['segment_first', 'gleaner.db'])(
    'leaves no data in the target if it ends after %s',
    async (last) => {
      await storeWork();
      await createBackup(config, backup());
      const interrupted = restoreBackup(backup(), target(), (path) => {
        if (path.endsWith(last)) throw new Error('killed');
      });
      await expect(interrupted).rejects.toThrow('killed');
      const there = loadConfig({ GLEANER_DATA_DIR: target() });
      await expect(createBackup(there, join(folder, 'other'))).rejects.toThrow(
        /^No Gleaner data in /,
      );
      await expect(restoreBackup(backup(), target())).rejects.toThrow(/ is not empty\. /);
    },
  );

  test('names the newest backup of a folder that has several', async () => {
    for (const name of ['2026-03-01', '2026-03-02', '2026-03-03'])
      await createBackup(config, join(backup(), name));
    rmSync(join(backup(), '2026-03-03', 'manifest.jsonl'));
    await expect(restoreBackup(backup(), target())).rejects.toThrow(
      `Restore one of its backups, such as ${join(backup(), '2026-03-02')}.`,
    );
  });

  test('refuses a target that is not empty', async () => {
    await storeWork();
    await createBackup(config, backup());
    await expect(restoreBackup(backup(), config.dataDir)).rejects.toThrow(/ is not empty\. /);
  });
});
