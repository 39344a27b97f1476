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
 * Disabled checks: OpenAPI cannot express all rules for valid requests, such as the URLs of a marketplace, the two
 * places for the country, and integers written as 1.0.
 */
const leftOut = ['positive_data_acceptance', 'negative_data_rejection'];

/** Without this, retrieve calls would wait a minute for jobs awaiting approval. */
const settings = '[parameters]\n"query.wait" = "1"\n';

describe.skipIf(missing !== '')(`the OpenAPI document${missing}`, () => {
  let running: RunningOrigins;
  let deployment: Deployment;

  beforeAll(async () => {
    running = await startOrigins({ origins, misbehaviour: 'none' });
    deployment = await createDeployment({
      inProcess: false,
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

  test('describes every response to requests generated from it, none of them a 5xx', async () => {
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
    // If a generated request had revoked the key, the later ones would have been refused.
    expect((await api.get(user, '/v1/account')).status).toBe(200);
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
  }, 360_000);
});

function never(): never {
  throw new Error('Schemathesis is missing');
}
