import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { scrape, sumOf } from '../observability/place.ts';
import { embedded, openStacks } from '../support/engines/engines.ts';
import { freePort } from '../support/servers/ports.ts';
import { createApi, submitItems, variantSold, watchJob } from '../support/service/api.ts';
import { runCommand } from '../support/service/command.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { root, run } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';

const units = 300;
const steps = ['database', 'file', 'files', 'secrets', 'manifest'] as const;

describe('backup of a running service', () => {
  let folder: string;
  let origins: RunningOrigins;
  let deployment: Deployment;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gleaner-backup-'));
    origins = await startOrigins({ origins: [mkta], latencyMs: 20 });
    const [opened] = await openStacks([embedded]);
    const originLimits = { concurrency: 16, requests_per_second: 5 };
    deployment = await createDeployment({
      inProcess: false,
      stack: embedded,
      engines: opened!.engines!,
      origins,
      originLimits,
    });
    await deployment.start();
  });
  afterAll(async () => {
    await deployment?.stop();
    await origins?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Starts jobs and waits until results of one exist. */
  async function startJobs() {
    const api = createApi(deployment);
    const user = await api.createUser(10_000);
    const items = plainIds(units).map((id) => ({ item_id: String(id), shop_id: '77' }));
    const ended = await submitItems(api, user, 'id', items.slice(0, 20));
    const running = await submitItems(api, user, 'sg', items);
    for (const id of [ended, running]) await api.operator('ApproveJob', { job_id: id });
    await watchJob(api, user, ended, 30_000);
    const progress = async () =>
      (await api.get(user, variantSold.download(running))).body.success_count;
    await until('the job progresses', async () => (await progress()) > 30 || undefined, {
      withinMs: 30_000,
    });
    return { user, ended, running, progress };
  }

  test('contains a consistent state, from which a restored service continues its jobs', async () => {
    const { user, ended, running, progress } = await startJobs();
    const backup = join(folder, 'backup');
    const made = await runCommand(['backup', backup], deployment.settings);
    expect(made).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Backup complete: \d+ files, [\d,]+ bytes\.\n$/),
      stderr: '',
    });
    expect(statSync(backup).mode & 0o777).toBe(0o700);
    for (const file of ['gleaner.db', 'secrets.txt'])
      expect(statSync(join(backup, file)).mode & 0o777).toBe(0o600);
    // The job must have been in progress, or the test shows nothing.
    expect(await progress()).toBeLessThan(units);
    await deployment.api.kill();

    for (const step of steps) {
      const broken = join(folder, `broken-${step}`);
      const { code } = await killBackupAt(step, broken);
      expect({ step, code }).toEqual({ step, code: 137 });
      const refused = await runCommand(['restore', broken, join(folder, 'nowhere')], {});
      expect(refused).toEqual({
        code: 2,
        stdout: '',
        stderr: `gleaner: ${broken} is not a complete backup: it has no manifest.jsonl.\n`,
      });
      expect(existsSync(join(folder, 'nowhere'))).toBe(false);
      expect((await runCommand(['backup', broken], deployment.settings)).code).toBe(2);
    }

    const restored = join(folder, 'restored');
    expect((await runCommand(['restore', backup, restored], {})).code).toBe(0);
    expect(readdirSync(restored).toSorted()).toEqual(['gleaner.db', 'results', 'secrets.txt']);
    Object.assign(deployment.settings, { GLEANER_DATA_DIR: restored });
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [], jobs: 2 });
    raiseLimits(deployment.settings.GLEANER_ORIGINS!);
    await deployment.api.start({ GLEANER_DATA_DIR: restored });
    const api = createApi(deployment);
    const { download } = await watchJob(api, user, running, 60_000);
    expect(download).toMatchObject({ status: 'completed', success_count: units });
    const before = (await api.get(user, variantSold.download(ended))).body;
    expect(before).toMatchObject({ status: 'completed', success_count: 20 });
    expect((await fetch(before.download_url)).status).toBe(200);
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [], jobs: 2 });

    await deployment.api.stop();
    await scheduledBackup(restored);
  });

  /** Starts the service with scheduled backups, and waits for the first one. */
  async function scheduledBackup(dataDir: string) {
    const scheduled = join(folder, 'scheduled');
    const opsPort = String(await freePort());
    await deployment.api.start({ GLEANER_BACKUP_TO: scheduled, GLEANER_OPS_PORT: opsPort });
    const lastSuccess = async () => {
      const found = await scrape(`http://127.0.0.1:${opsPort}`);
      return sumOf(found, 'gleaner_backup_last_success_timestamp_seconds') || undefined;
    };
    const at = await until('a backup is complete', lastSuccess, { withinMs: 30_000 });
    const names = readdirSync(scheduled);
    expect(names).toEqual([expect.stringMatching(/^gleaner-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/)]);
    expect(names[0]).toContain(new Date(at * 1000).toISOString().slice(0, 10));
    expect(
      (await runCommand(['restore', join(scheduled, names[0]!), `${dataDir}-again`], {})).code,
    ).toBe(0);
    await deployment.api.stop();
  }

  /** Raises the rate limits, which were low so that the job did not end during the backup. */
  function raiseLimits(originsFile: string): void {
    const limited = JSON.parse(readFileSync(originsFile, 'utf8')) as Record<string, object>;
    const raised = Object.entries(limited).map(([market, settings]) => [
      market,
      { ...settings, requests_per_second: 200 },
    ]);
    writeFileSync(originsFile, JSON.stringify(Object.fromEntries(raised)));
  }

  /** Runs a backup in a process that kills itself after a step. */
  function killBackupAt(step: string, target: string) {
    const program = `
      const { createBackup } = await import(${JSON.stringify(join(root, 'src/backup/create.ts'))});
      const { loadConfig } = await import(${JSON.stringify(join(root, 'src/base/config.ts'))});
      await createBackup(loadConfig(process.env), ${JSON.stringify(target)}, (step) => {
        if (step === ${JSON.stringify(step)}) process.kill(process.pid, 'SIGKILL');
      });
    `;
    return run(
      'sh',
      ['-c', '"$0" --input-type=module -e "$1" & wait $!', process.execPath, program],
      deployment.settings,
    );
  }
});
