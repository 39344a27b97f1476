import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { origins } from '../../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../../sandbox/server.ts';
import { findEngine } from '../../engines/missing.ts';
import { formatSeedCommand, isSeedReplaced, seedsOf } from '../../support/run/seeds.ts';
import { createApi } from '../../support/service/api.ts';
import { createDeployment, type Deployment } from '../../support/service/deployment.ts';
import { findSchemathesis } from './tool.ts';

const tool = await findEngine(findSchemathesis());
const missing = 'missing' in tool ? ` (${tool.missing})` : '';

/** Time for a run on a machine that is busy with other suites. */
const timeoutMs = 900_000;

/**
 * Phases of the tool that run together, each after the examples, whose responses it uses. The tool
 * sends one request after the other, and its own workers share what Hypothesis does not protect
 * from threads.
 */
const coverage = 'examples,coverage';
const fuzzing = 'examples,fuzzing,stateful';

/**
 * Runs of each seed: the document, the phases, and the maximum number of requests generated for
 * each operation. The short paths are other names of the same endpoints, so that the fixed seed
 * does not repeat all values of each parameter for them.
 */
const runs = seedsOf('schemathesis').flatMap((seed) => [
  // The fixed seed checks the shapes; the search with new seeds generates more requests.
  { path: '/openapi.json', phases: coverage, examples: isSeedReplaced ? 6 : 3, seed },
  { path: '/openapi.json', phases: fuzzing, examples: isSeedReplaced ? 6 : 3, seed },
  ...(isSeedReplaced ? [{ path: '/openapi-short.json', phases: coverage, examples: 2, seed }] : []),
  { path: '/openapi-short.json', phases: fuzzing, examples: isSeedReplaced ? 2 : 1, seed },
]);

/** Statuses of valid requests that depend on more than the request. */
const statuses = ['2xx', '304', '401', '402', '403', '404', '409', '410', '429', '5xx'];

/**
 * Statuses of invalid requests: those that the tool expects, and those of a body and of an address
 * that are too large.
 */
const refusals = [
  '400',
  '401',
  '403',
  '404',
  '405',
  '409',
  '413',
  '415',
  '422',
  '429',
  '431',
  '5xx',
];

/** Operations with rules for valid requests that the document cannot express, and the rules. */
const ruled: Readonly<Record<string, string>> = {
  'GET /v1/history': 'names of marketplaces',
  'GET /v1/jobs': 'names of kinds and marketplaces',
  'GET /v1/jobs/{job_id}/export': 'names of columns, in the filter and the order',
  'GET /v1/jobs/{job_id}/records': 'names of columns, in the filter and the order',
  'GET /v1/jobs/{job_id}/results': 'names of columns, in the filter and the order',
  'GET /v1/jobs/{job_id}/units': 'codes of faults',
  'GET /v1/mkta/pgnt/jobs/{job_id}/items/{item_token}/data': 'tokens of the items of the job',
  'GET /v1/mkta/get_pc/retrieve/{task_id}': 'integers: the tool sends ids of other tasks',
  'GET /v1/mkta/get_pc_bulk/retrieve/{task_id}': 'integers: the tool sends ids of other tasks',
  'GET /v1/schedule-times': 'names of time zones, and the ranges of cron expressions',
  'PATCH /v1/schedules/{schedule_id}': 'no quote, and the rules of its request',
  'POST /v1/account/keys': 'an expiry in the future',
  'POST /v1/destinations': 'a bucket that can be reached',
  'POST /v1/jobs/{job_id}/reread': 'no options that concern the reading of pages',
  'POST /v1/mkta/get_pc/submit': 'ids are integers, and 1.0 is none',
  'POST /v1/mkta/get_pc_bulk/submit':
    'a CSV file with certain columns, and names of parts without a quote',
  'POST /v1/mkta/get_pc_bulk/terminate/{task_id}': 'integers: the tool sends ids of other tasks',
  'POST /v1/mkta/merchant-items/submit': 'URLs of the marketplace',
  'POST /v1/mkta/search-items/submit': 'URLs of the marketplace',
  'POST /v1/mkta/variant_sold_v1/submit': 'the country once, in the request or in each item',
  'POST /v1/mktb/merchant/bulk/submit': 'ids are integers, and 1.0 is none',
  'POST /v1/mktb/search/bulk/submit': 'a category for lists of one',
  'POST /v1/mktc/merchant/bulk/submit': 'ids are integers, and 1.0 is none',
  'POST /v1/mktc/pdp/bulk/submit': 'ids are integers, and 1.0 is none',
  'POST /v1/mktd/pdp/bulk/submit': 'ids are integers, and 1.0 is none',
  'POST /v1/mkte/search/bulk/submit': 'a category for lists of one',
  'POST /v1/mktf/search/bulk/submit': 'URLs of stores',
  'POST /v1/sites/{site}/pdp/bulk/submit': 'names of declared sites, and URLs on their hosts',
  'POST /v1/sites/{site}/search/bulk/submit': 'names of declared sites, and URLs on their hosts',
  'POST /v1/rules': 'a threshold for some conditions, and names of marketplaces',
  'POST /v1/schedules': 'the rules of the request of its kind',
  'PUT /v1/account/webhook': 'an absolute URL',
  'PUT /v1/rules/{rule_id}': 'a threshold for some conditions, and names of marketplaces',
};

/** Operations that accept more than the document says, and what. */
const lenient: Readonly<Record<string, string>> = {
  'GET /v1/jobs/{job_id}/records': 'an empty text for an option that is absent',
  'GET /v1/jobs/{job_id}/results': 'without a format, the options of formats are ignored',
  'POST /v1/mkta/get_pc_bulk/submit': 'booleans as HTML forms write them',
};

/**
 * Settings of the tool. Without `wait`, retrieve calls would wait a minute for jobs awaiting
 * approval. `deliver_to` needs destinations, which a new user does not have, `hold` needs fields of
 * the kind, and `only` needs a job with `track`.
 */
const settings = (isLong: boolean) => `
[parameters]
"query.wait" = "1"
"query.deliver_to" = ""
"query.hold" = ""
"query.only" = ""

[checks.positive_data_acceptance]
expected-statuses = ${JSON.stringify(statuses)}

[checks.negative_data_rejection]
expected-statuses = ${JSON.stringify(refusals)}
${[...new Set([...Object.keys(ruled), ...Object.keys(lenient)])].map((operation) => operationSettings(operation, isLong)).join('')}`;

function operationSettings(operation: string, isLong: boolean): string {
  const accepted = JSON.stringify([...statuses, '400', '422']);
  return [
    `\n[[operations]]\ninclude-name = "${isLong ? operation : operation.replace(' /v1', ' ')}"\n`,
    operation in ruled
      ? `[operations.checks.positive_data_acceptance]\nexpected-statuses = ${accepted}\n`
      : '',
    operation in lenient
      ? '[operations.checks.negative_data_rejection]\nexpected-statuses = ["2xx", "4xx", "5xx"]\n'
      : '',
  ].join('');
}

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

  test.concurrent.each(runs)(
    'at $path describes every response to requests generated from it by $phases, none a 5xx, seed $seed',
    async ({ path, phases: phasesOfRun, examples, seed }) => {
      const api = createApi(deployment);
      const user = await api.createUser(1_000_000_000);
      const parameters = [
        'run',
        'openapi.json',
        ...['--url', deployment.url],
        // Its own timeout is 10 seconds, which a busy machine may need for a request.
        ...['--request-timeout', '120'],
        ...['--header', `Authorization: Bearer ${user.key}`],
        ...['--checks', 'all'],
        ...['--phases', phasesOfRun, '--max-examples', `${examples}`, '--seed', `${seed}`],
        ...['--suppress-health-check', 'all', '--warnings', 'off', '--continue-on-failure'],
      ];
      const document = await (await fetch(`${deployment.url}${path}`)).text();
      const { code, output } = await ('run' in tool
        ? tool.run(parameters, settings(path === '/openapi.json'), document, timeoutMs)
        : never());
      const command = formatSeedCommand(seed, ['test/system/schemathesis/schemathesis.test.ts']);
      expect(code, `${command}\n${output.slice(-20_000)}`).toBe(0);
      expect(output).toMatch(/[1-9]\d{2,} generated/);
      // If a generated request had revoked the key, the later ones would have been refused.
      expect((await api.get(user, '/v1/account')).status).toBe(200);
      expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
    },
    timeoutMs + 30_000,
  );
});

function never(): never {
  throw new Error('Schemathesis is missing');
}
