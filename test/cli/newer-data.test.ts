import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embedded, openStacks, restartableStack } from '../support/engines/engines.ts';
import { runCommand } from '../support/service/command.ts';
import { createServiceProcess } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';

const opened = await openStacks([embedded, restartableStack]);
const message =
  /^gleaner: (?:SQLite file|MongoDB at) .* has schema version (\d+), but this program supports versions up to (\d+): install a newer version of Gleaner, or restore a backup of this one$/m;

describe.each(opened)('data of a newer program, $title', ({ engines, distributed }) => {
  if (engines === null) return;
  let folder: string;
  let settings: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-newer-'));
    settings = {
      GLEANER_DATA_DIR: join(folder, 'data'),
      GLEANER_HTTP_PORT: '0',
      GLEANER_GRPC_PORT: '0',
      GLEANER_OPS_PORT: 'off',
      ...engines.settings,
    };
    await mkdir(settings.GLEANER_DATA_DIR!);
    await setVersion(99);
  });
  afterAll(async () => {
    await engines.stop();
    await rm(folder, { recursive: true });
  });

  /** Stores a schema version, as a newer program does. */
  async function setVersion(version: number): Promise<void> {
    if (distributed) {
      const client = new MongoClient(settings.MONGODB_URI!);
      const set = { $set: { version, holder: '', leaseUntil: 0 } };
      await client
        .db()
        .collection('schema')
        .updateOne({ _id: 'schema' as never }, set, { upsert: true });
      await client.close();
    } else {
      const database = new DatabaseSync(join(settings.GLEANER_DATA_DIR!, 'gleaner.db'));
      database.exec(`PRAGMA user_version = ${version}`);
      database.close();
    }
  }

  const roles = distributed ? ['api', 'core', 'gateway', 'worker'] : ['serve'];
  test.each([...roles, 'audit', 'operator-key', 'migrate'])(
    'is refused by %s with exit code 10',
    async (name) => {
      const { code, stdout, stderr } = await runCommand([name], settings);
      const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
      expect({ code, stdout, lines }).toEqual({
        code: 10,
        stdout: '',
        lines: [expect.stringMatching(message)],
      });
      expect(lines[0]).toContain('has schema version 99,');
    },
  );

  test('is reported by doctor', async () => {
    const { code, stdout } = await runCommand(['doctor', '--offline'], settings);
    expect(code).toBe(1);
    expect(stdout).toContain('has schema version 99');
  });

  if (distributed)
    test('ends a role that started while the database was unavailable', async () => {
      await engines.mongo!.stop();
      const worker = createServiceProcess({ role: 'worker', environment: settings });
      await worker.start();
      await engines.mongo!.start();
      await until('the worker ends', () => !worker.running() || undefined, { withinMs: 20_000 });
      expect(await worker.stop()).toBe(10);
      expect(worker.log()).toMatch(message);
    });

  test('is used again after its version is supported, and migrate prints it', async () => {
    const { stderr } = await runCommand(['migrate'], settings);
    const supported = Number(message.exec(stderr)![2]);
    if (!distributed) await rm(join(settings.GLEANER_DATA_DIR!, 'gleaner.db'));
    await setVersion(distributed ? supported : 0);
    const result = await runCommand(['migrate'], settings);
    const engine = distributed ? 'MongoDB' : 'SQLite';
    expect(result).toEqual({
      code: 0,
      stdout: `${engine}: schema version ${supported}\n`,
      stderr: '',
    });
  });
});
