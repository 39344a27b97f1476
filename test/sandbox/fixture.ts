import { origins as fakeOrigins } from '../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import type { Engines } from '../support/engines/engines.ts';
import {
  type ApiResponse,
  createApi,
  sendJson,
  type TestApi,
  type TestUser,
} from '../support/service/api.ts';
import {
  createDeployment,
  type Deployment,
  type DeploymentOptions,
} from '../support/service/deployment.ts';
import { until } from '../support/time/until.ts';

/** A service with live origins, which count requests, and a user with a live and a test key. */
export interface SandboxFixture {
  /** Origins of live jobs. */
  live: RunningOrigins;
  deployment: Deployment;
  api: TestApi;
  /** The live account. */
  user: TestUser;
  /** The test account of the same user. */
  tester: TestUser;
  /** Creates another test key of the user's. */
  createTestKey(): Promise<string>;
  /** Submits a request and returns the job's id. */
  submit(caller: TestUser, path: string, request: object): Promise<string>;
  /** Returns a job as its owner sees it. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape.
  job(caller: TestUser, id: string): Promise<any>;
  /** Resolves with a job once it has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape.
  ended(caller: TestUser, id: string): Promise<any>;
  /** Returns the codes of a job's units, in order, with null for a successful one. */
  codes(caller: TestUser, id: string): Promise<(string | null)[]>;
  /** Calls any REST path. */
  call(caller: TestUser, method: string, path: string, body?: unknown): Promise<ApiResponse>;
  /** Returns the number of requests that the live origins received. */
  liveRequests(): number;
  stop(): Promise<void>;
}

/** Opens the fixture. It always is outside of working hours. */
export async function openSandboxFixture(
  distributed: boolean,
  engines: Engines,
  { settings, inProcess = true }: Pick<DeploymentOptions, 'settings' | 'inProcess'> = {},
): Promise<SandboxFixture> {
  const live = await startOrigins({ origins: fakeOrigins });
  const deployment = await createDeployment({
    inProcess,
    stack: { distributed },
    engines,
    origins: live,
    settings: { GLEANER_WORKING_HOURS: '00:00-00:01+00:00', ...settings },
  });
  await deployment.start();
  const api = createApi(deployment);
  const user = await api.createUser(50_000);
  const createTestKey = async (): Promise<string> => {
    const request = { user_id: user.id, name: 'ci', mode: 'test' };
    return (await api.operator('CreateApiKey', request)).apiKey;
  };
  const key = await createTestKey();
  const { body } = await api.get({ id: '', key }, '/v1/account');
  const job: SandboxFixture['job'] = async (caller, id) =>
    (await api.get(caller, `/v1/jobs/${id}`)).body;
  return {
    live,
    deployment,
    api,
    user,
    tester: { id: body.account.id, key },
    createTestKey,
    async submit(caller, path, request) {
      const { status, body } = await api.post(caller, path, request);
      if (status !== 202) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      return body.job_id;
    },
    job,
    ended: (caller, id) =>
      until(
        `job ${id} ends`,
        async () => {
          const found = await job(caller, id);
          return found.ended ? found : undefined;
        },
        { withinMs: 60_000 },
      ),
    async codes(caller, id) {
      const { body } = await api.get(caller, `/v1/jobs/${id}/units?page_size=100`);
      return body.units.map(({ code }: { code: string }) => code || null);
    },
    call: (caller, method, path, body) => sendJson(method, deployment.url + path, caller.key, body),
    liveRequests: () => Object.values(live.counters()).reduce((sum, count) => sum + count, 0),
    async stop() {
      await deployment.stop();
      await live.stop();
      await engines.stop();
    },
  };
}
