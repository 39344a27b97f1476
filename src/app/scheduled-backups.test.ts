import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/support/time/clock.ts';
import { until } from '../../test/support/time/until.ts';
import { createBackup } from '../backup/create.ts';
import { folderTarget } from '../backup/targets.ts';
import { type Config, loadConfig } from '../base/config.ts';
import { createLog } from '../base/log.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { createScheduledBackups, type ScheduledBackups } from './scheduled-backups.ts';

const hourMs = 3_600_000;
const start = Date.parse('2026-03-01T02:00:00Z');

let folder: string;
let config: Config;
let clock: ManualClock;
let failure: string | null;
let attempts: number;
let stopping: AbortController;
let running: Promise<void>[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-scheduled-'));
  config = loadConfig({ GLEANER_DATA_DIR: join(folder, 'data') });
  const store = openSqliteStore({ path: join(config.dataDir, 'gleaner.db') });
  await store.ping();
  await store.close();
  clock = createManualClock(start);
  failure = null;
  attempts = 0;
  running = [];
  stopping = new AbortController();
  return async () => {
    stopping.abort(new Error('the test has ended'));
    await Promise.all(running);
    rmSync(folder, { recursive: true });
  };
});

const target = () => join(folder, 'backups');
const names = () => readdirSync(target()).toSorted();

/** Creates backups every 6 hours, and keeps two. */
const create = (): ScheduledBackups =>
  createScheduledBackups({
    target: folderTarget(target(), backUp),
    everyMs: 6 * hourMs,
    keep: 2,
    clock,
    log: createLog('silent', 'test'),
  });

/** Makes a backup, or fails with `failure`. */
async function backUp(path: string): Promise<number> {
  attempts += 1;
  if (failure !== null) {
    mkdirSync(path, { recursive: true });
    throw new Error(failure);
  }
  return (await createBackup(config, path)).lost.length;
}

/** Runs the schedule until it waits for the next backup. */
async function run(backups: ScheduledBackups): Promise<void> {
  running.push(backups.run(stopping.signal));
  await waiting();
}

const waiting = () =>
  until('the schedule waits', () => clock.sleepers() === 1 || undefined, { withinMs: 10_000 });

/** Advances the clock, and waits for the end of a backup. */
async function advance(ms: number): Promise<void> {
  await clock.advance(ms);
  await waiting();
}

describe('createScheduledBackups()', () => {
  test('makes the first backup at once, further ones after the interval, and keeps the newest', async () => {
    const backups = create();
    expect(backups.lastSuccessAt()).toBe(null);
    await run(backups);
    expect(names()).toEqual(['gleaner-2026-03-01T02-00-00Z']);
    expect(backups.lastSuccessAt()).toBe(start);
    await advance(6 * hourMs - 1);
    expect(attempts).toBe(1);
    await advance(1);
    await advance(6 * hourMs);
    expect(names()).toEqual(['gleaner-2026-03-01T08-00-00Z', 'gleaner-2026-03-01T14-00-00Z']);
    expect(backups.overdueMs()).toBe(0);
  });

  test('continues the schedule of an earlier process', async () => {
    await createBackup(config, join(target(), 'gleaner-2026-03-01T01-00-00Z'));
    const backups = create();
    await run(backups);
    expect(backups.lastSuccessAt()).toBe(start - hourMs);
    await advance(5 * hourMs - 1);
    expect(attempts).toBe(0);
    await advance(1);
    expect(names()).toEqual(['gleaner-2026-03-01T01-00-00Z', 'gleaner-2026-03-01T07-00-00Z']);
  });

  test('repeats a failed backup after 15 minutes, and reports how long it has been due', async () => {
    const backups = create();
    failure = 'the disk is full';
    await run(backups);
    expect([attempts, backups.lastSuccessAt(), backups.overdueMs()]).toEqual([1, null, 0]);
    for (let quarter = 0; quarter < 4; quarter += 1) await advance(hourMs / 4);
    expect([attempts, backups.lastSuccessAt(), backups.overdueMs()]).toEqual([5, null, hourMs]);
    expect(names()).toHaveLength(5);
    failure = null;
    await advance(hourMs / 4);
    expect([attempts, backups.overdueMs()]).toEqual([6, 0]);
    expect(names()).toEqual(['gleaner-2026-03-01T03-15-00Z']);
  });

  test('deletes complete backups only after a new one has succeeded, and no other folders', async () => {
    await createBackup(config, join(target(), 'gleaner-2026-02-01T00-00-00Z'));
    await createBackup(config, join(target(), 'gleaner-2026-02-02T00-00-00Z'));
    for (const name of ['gleaner-monday', 'notes']) mkdirSync(join(target(), name));
    writeFileSync(join(target(), 'notes', 'a.txt'), 'a');
    failure = 'the disk is full';
    await run(create());
    expect(names()).toContain('gleaner-2026-02-01T00-00-00Z');
    failure = null;
    await advance(hourMs / 4);
    expect(names()).toEqual([
      'gleaner-2026-02-02T00-00-00Z',
      'gleaner-2026-03-01T02-15-00Z',
      'gleaner-monday',
      'notes',
    ]);
  });
});
