import { Session } from 'node:inspector/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { origins as fakeOrigins } from '../../sandbox/list.ts';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { type Engines, embedded } from '../support/engines/engines.ts';
import {
  createApi,
  submitItems,
  type TestApi,
  type TestUser,
  watchJob,
} from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { root } from '../support/service/service.ts';

/**
 * Maximum number of files that a reader follows for one call or job. It may only shrink. A job runs
 * two files more or less, depending on the times of its steps.
 */
const maxFiles = { account: 33, job: 111 };

/**
 * Runs of each path. Background work runs beside some of them and is not counted. On a busy machine
 * it can run beside each of a few.
 */
const repetitions = 15;

const session = new Session();
let origins: RunningOrigins;
let deployment: Deployment;
let api: TestApi;
let user: TestUser;

beforeAll(async () => {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  origins = await startOrigins({ origins: fakeOrigins, misbehaviour: 'none' });
  deployment = await createDeployment({
    stack: embedded,
    engines: (await embedded.open()) as Engines,
    origins,
    settings: { GLEANER_APPROVAL: 'off' },
  });
  await deployment.start();
  api = createApi(deployment);
  user = await api.createUser(1_000);
});

afterAll(async () => {
  await deployment.stop();
  await origins.stop();
  session.disconnect();
});

/** Returns the files of the service of which a named function ran since the last call. */
async function takeFiles(): Promise<Set<string>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = result
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0),
    )
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ url }) => relative(root, fileURLToPath(url)).replaceAll(sep, '/'));
  return new Set(files.filter((file) => /^(?:src|gateway)\//.test(file)));
}

/** Returns the files that run each time that `run` does, in alphabetical order. */
async function filesOf(run: (repetition: number) => Promise<unknown>): Promise<string[]> {
  // Code that runs once: the first call creates handlers.
  await run(0);
  const runs: Set<string>[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    await takeFiles();
    await run(repetition);
    runs.push(await takeFiles());
  }
  const [first, ...others] = runs;
  return [...first!].filter((file) => others.every((files) => files.has(file))).toSorted();
}

test('a read of the account runs few files', async () => {
  const files = await filesOf(async () => {
    expect(await api.get(user, '/v1/account')).toMatchObject({ status: 200 });
  });
  expect(files).toContain('gateway/serve-endpoint.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(maxFiles.account);
});

test('a job of one item runs few files, from its submission to its file', async () => {
  const ids = plainIds(repetitions + 1);
  const files = await filesOf(async (repetition) => {
    const item = { item_id: String(ids[repetition]), shop_id: '1' };
    const jobId = await submitItems(api, user, 'id', [item]);
    await watchJob(api, user, jobId, 20_000);
  });
  expect(files).toContain('src/jobs/steps/work.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(maxFiles.job);
});
