import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { origins } from '../../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../../sandbox/server.ts';
import { findEngine } from '../../engines/missing.ts';
import { createApi } from '../../support/api.ts';
import { createDeployment, type Deployment } from '../../support/deployment.ts';
import { findSchemathesis } from './tool.ts';

const tool = await findEngine(findSchemathesis());
const missing = 'missing' in tool ? ` (${tool.missing})` : '';

/**
 * Left out: what a document can't say keeps a request from being accepted (URLs of a marketplace, the
 * country that stands here or there, whole numbers written as 1.0), and so the reverse.
 */
const leftOut = ['positive_data_acceptance', 'negative_data_rejection'];

/** Jobs that wait for an approval would be waited for a minute. */
const settings = '[parameters]\n"query.wait" = "1"\n';

describe.skipIf(missing !== '')(`the OpenAPI document${missing}`, () => {
  let running: RunningOrigins;
  let deployment: Deployment;

  beforeAll(async () => {
    running = await startOrigins({ origins, misbehaviour: 'none' });
    deployment = await createDeployment({
      stack: { distributed: false },
      engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
      origins: running,
    });
    await deployment.start();
  });

  afterAll(async () => {
    await deployment?.stop();
    await running?.stop();
  });

  test('says everything that may come of requests made up from it: no 5xx, no answer beside it', async () => {
    const api = createApi(deployment);
    const user = await api.createUser(1_000_000_000);
    const parameters = [
      'run',
      `${deployment.url}/openapi.json`,
      ...['--header', `Authorization: Bearer ${user.key}`],
      ...['--checks', 'all', '--exclude-checks', leftOut.join(',')],
      ...['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', '6', '--seed', '20261'],
      ...['--suppress-health-check', 'all', '--warnings', 'off', '--continue-on-failure'],
    ];
    const { code, output } = await ('run' in tool ? tool.run(parameters, settings, 350_000) : never());
    expect(code, output.slice(-20_000)).toBe(0);
    expect(output).toMatch(/[1-9]\d{2,} generated/);
    // A key that was revoked on the way would have been refused what came after.
    expect((await api.get(user, '/v1/account')).status).toBe(200);
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
  }, 360_000);
});

function never(): never {
  throw new Error('the tester is missing');
}
