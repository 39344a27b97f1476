import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { embedded, openStacks, restartableStackWithS3 } from '../support/engines/engines.ts';
import {
  createApi,
  submitItems,
  type TestApi,
  type TestUser,
  variantSold,
  watchJob,
} from '../support/service/api.ts';
import { runCommand } from '../support/service/command.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { root, run } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';

const units = 300;
const steps = ['begin', 'file', 'users', 'batches', 'verified'] as const;

const [target] = await openStacks([restartableStackWithS3]);
describe.skipIf(target!.engines === null)(
  `move of an embedded service, target: ${target!.title}`,
  () => {
    const engines = target!.engines!;
    let folder: string;
    let origins: RunningOrigins;
    let source: Deployment;
    let moved: Deployment;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gleaner-move-'));
      origins = await startOrigins({ origins: [mkta], latencyMs: 20 });
      const [opened] = await openStacks([embedded]);
      const originLimits = { concurrency: 16, requests_per_second: 60 };
      source = await createDeployment({
        inProcess: false,
        ...{ stack: embedded, engines: opened!.engines!, origins, originLimits },
        // Worker processes end a moment after the service is killed, and may write the log back
        // during the move.
        settings: { GLEANER_WORKERS: '0' },
      });
      const settings = { GLEANER_OPERATOR_KEY: source.operatorKey };
      const created = await createDeployment({
        inProcess: false,
        stack: target!,
        engines,
        origins,
        originLimits,
        settings,
      });
      moved = { ...created, operatorKey: source.operatorKey };
    });
    afterAll(async () => {
      await source?.stop();
      await moved?.stop();
      await engines.stop();
      await origins?.stop();
      rmSync(folder, { recursive: true });
    });

    test('continues on the distributed stack with its jobs, files, and users', async () => {
      await source.start();
      const before = createApi(source);
      const user = await before.createUser(10_000);
      const tester = await createTester(before, user);
      const items = plainIds(units).map((id) => ({ item_id: String(id), shop_id: '77' }));
      const ended = await submitItems(before, user, 'id', items.slice(0, 20));
      const running = await submitItems(before, user, 'sg', items);
      const waiting = await submitItems(before, user, 'my', items.slice(0, 5));
      for (const id of [ended, running]) await before.operator('ApproveJob', { job_id: id });
      const testEnded = await submitItems(before, tester, 'sg', sandboxItems('123', '800'));
      const testResult = (await watchJob(before, tester, testEnded, 30_000)).download;
      expect(testResult).toMatchObject({ success_count: 1, failed_count: 1 });
      const { download: finished } = await watchJob(before, user, ended, 30_000);
      const file = await (await fetch(finished.download_url)).text();
      const progress = async () =>
        (await before.get(user, variantSold.download(running))).body.success_count;
      await until('the job progresses', async () => (await progress()) > 30 || undefined, {
        withinMs: 30_000,
      });

      const dataDir = source.settings.GLEANER_DATA_DIR!;
      const refused = await runCommand(['move', dataDir], moved.settings);
      expect(refused).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(' is in use by process '),
      });
      // Ids that end with 900 are slow, and 991 waits for a decision.
      const testRunning = await submitItems(
        before,
        tester,
        'sg',
        sandboxItems('900', '124', '125'),
      );
      const testWaiting = await submitItems(before, tester, 'sg', sandboxItems('991'));
      // A crash: claims, and a log of the database that was not written back.
      await source.api.kill();
      const audited = await source.audit();
      const digest = () =>
        createHash('sha256')
          .update(readFileSync(join(dataDir, 'gleaner.db')))
          .digest('hex');
      const original = digest();

      for (const step of steps) {
        expect({ step, ...(await killMoveAt(step)) }).toMatchObject({ step, code: 137 });
        const serve = await runCommand(['api'], moved.settings);
        expect({ step, ...serve }).toMatchObject({ step, code: 10 });
        expect(serve.stderr).toContain(
          `contains an incomplete move of ${dataDir}: repeat 'gleaner move `,
        );
        expect(digest()).toBe(original);
      }
      expect(await runCommand(['move', dataDir], moved.settings)).toEqual({
        code: 0,
        stdout: expect.stringMatching(
          /^Moved 3 accounts and 6 jobs: \d+ documents, \d+ files, [\d,]+ bytes\.\n$/,
        ),
        stderr: '',
      });
      expect(digest()).toBe(original);
      expect(await moved.audit()).toEqual(audited);
      expect((await runCommand(['move', dataDir], moved.settings)).stderr).toContain(
        ' is not empty: ',
      );

      await moved.start();
      const api = createApi(moved);
      const { download } = await watchJob(api, user, running, 90_000);
      expect(download).toMatchObject({ status: 'completed', success_count: units });
      const again = (await api.get(user, variantSold.download(ended))).body;
      expect(await (await fetch(again.download_url)).text()).toBe(file);
      await api.operator('ApproveJob', { job_id: waiting });
      expect((await watchJob(api, user, waiting, 60_000)).download).toMatchObject({
        status: 'completed',
      });

      // The test account, its key, and its jobs are in the sandbox as before, and live data is apart.
      expect((await watchJob(api, tester, testRunning, 60_000)).download).toMatchObject({
        success_count: 3,
      });
      expect((await api.get(tester, variantSold.download(testEnded))).body.success_count).toBe(1);
      const testJobs = [testEnded, testRunning, testWaiting];
      expect(await jobsOf(api, tester)).toEqual(testJobs.map((id) => `${id} test 0`).toSorted());
      expect((await jobsOf(api, user)).map((line) => line.split(' ')[1])).toEqual([
        'live',
        'live',
        'live',
      ]);
      expect((await api.get(tester, '/v1/account')).body.account).toMatchObject({
        mode: 'test',
        balance: 0,
      });
      expect((await api.get(tester, `/v1/jobs/${testWaiting}`)).body.status).toBe(
        'awaiting_approval',
      );
      expect((await api.get(tester, `/v1/jobs/${running}`)).status).toBe(404);
      expect(await moved.audit()).toMatchObject({ code: 0, problems: [], accounts: 3, jobs: 6 });
    }, 240_000);

    /** Returns items of the sandbox whose ids end with these digits. */
    const sandboxItems = (...digits: string[]) =>
      digits.map((end) => ({ item_id: `20000000${end}`, shop_id: '7001' }));

    /** Returns the id, mode, and cost of each job of a user. */
    async function jobsOf(api: TestApi, caller: TestUser): Promise<string[]> {
      const { jobs } = (await api.get(caller, '/v1/jobs')).body as {
        jobs: { job_id: string; mode: string; cost: number }[];
      };
      return jobs.map(({ job_id: id, mode, cost }) => `${id} ${mode} ${cost}`).toSorted();
    }

    /** Creates a test key of a user. */
    async function createTester(api: TestApi, { id }: TestUser): Promise<TestUser> {
      const { apiKey } = await api.operator('CreateApiKey', {
        user_id: id,
        name: 'ci',
        mode: 'test',
      });
      const { body } = await api.get({ id: '', key: apiKey }, '/v1/account');
      return { id: body.account.id, key: apiKey };
    }

    /** Runs a move in a process that kills itself after a step. */
    function killMoveAt(step: string) {
      const program = `
      const { moveData } = await import(${JSON.stringify(join(root, 'src/tools/move.ts'))});
      const { loadConfig } = await import(${JSON.stringify(join(root, 'src/base/config.ts'))});
      await moveData(loadConfig(process.env), ${JSON.stringify(source.settings.GLEANER_DATA_DIR)}, (step) => {
        if (step === ${JSON.stringify(step)}) process.kill(process.pid, 'SIGKILL');
      });
    `;
      const parameters = [
        '-c',
        '"$0" --input-type=module -e "$1" & wait $!',
        process.execPath,
        program,
      ];
      return run('sh', parameters, moved.settings);
    }
  },
);
