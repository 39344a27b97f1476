import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../../src/api/rest/server.ts';
import { findEngine } from '../../engines/missing.ts';
import { openSandboxFixture, type SandboxFixture } from '../../sandbox/fixture.ts';
import { type Engines, embedded } from '../../support/engines/engines.ts';
import { run } from '../../support/service/service.ts';
import { findNpmPackages } from '../clients/tools.ts';
import { startTestServer } from './server.ts';

const source = 'test/system/mcp/suite';
const tool = await findEngine(findNpmPackages('mcp-conformance-0.1.16-0.2.0-alpha.12', source));
const missing = 'missing' in tool ? ` (${tool.missing})` : '';
const runMs = 240_000;

/** Scenarios that are not run, and why. All others of a suite are. */
const excluded: readonly [scenarios: RegExp, reason: string][] = [
  [/^(?:resources-|sep-2164-)/, 'the service has no resources'],
  [/^prompts-/, 'the service has no prompts'],
  [/^completion-/, 'arguments are completed for prompts and resources only'],
  [/^(?:logging-set-level|tools-call-with-logging)$/, 'the tools send no log messages'],
  [
    /^(?:tools-call-sampling|tools-call-elicitation|elicitation-|input-required-)/,
    'no tool asks the client for input',
  ],
  [/^tasks-/, 'jobs are the only tasks: these scenarios run with the service below'],
  [/^http-custom-header-/, 'no tool has arguments in headers'],
  [
    /^server-sse-polling$/,
    'a response that is interrupted is requested again: calls are short or idempotent',
  ],
];

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/**
 * Runs scenarios of a version of the suite. Returns the checks of each that was run, by its name.
 */
async function runSuite(
  version: 'conformance' | 'conformance-next',
  url: string,
  options: readonly string[],
): Promise<Map<string, Check[]>> {
  if ('missing' in tool) throw new Error(tool.missing);
  const results = await mkdtemp(join(tmpdir(), 'gleaner-mcp-'));
  try {
    const program = join(tool.folder, 'node_modules', version, 'dist/index.js');
    const parameters = [program, 'server', '--url', url, '--output-dir', results, ...options];
    const { stdout, stderr } = await run(process.execPath, parameters, {}, results, runMs);
    const checks = new Map<string, Check[]>();
    for (const folder of await readdir(results)) {
      const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder)![1]!;
      const file = await readFile(join(results, folder, 'checks.json'), 'utf8').catch(() => '[]');
      checks.set(scenario, JSON.parse(file));
      expect(checks.get(scenario), `${stdout}${stderr}`.slice(-4_000)).not.toEqual([]);
    }
    expect(checks.size, `${stdout}${stderr}`.slice(-4_000)).toBeGreaterThan(0);
    return checks;
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

/** Returns the failed checks, except checks of excluded scenarios. */
const failuresOf = (checks: ReadonlyMap<string, Check[]>): string[] =>
  [...checks].flatMap(([scenario, list]) =>
    excluded.some(([pattern]) => pattern.test(scenario))
      ? []
      : list
          .filter(({ status }) => status === 'FAILURE')
          .map(({ id, errorMessage }) => `${scenario}: ${id}: ${errorMessage}`),
  );

describe.skipIf(missing !== '')(`the listener for the Model Context Protocol${missing}`, () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server?.close(0));
  const url = () => `http://localhost:${server.port}/mcp`;

  test.each([
    [
      '2026-07-28',
      'conformance-next',
      ['--requirements', '2026-07-28'],
      'server-stateless caching',
    ],
    ['2025-11-25', 'conformance-next', ['--requirements', '2025-11-25'], 'server-initialize ping'],
    ['2025-11-25, last release', 'conformance', ['--suite', 'all'], 'server-initialize ping'],
  ] as const)(
    'passes the suite of %s with the tools that it names',
    async (_revision, version, options, own) => {
      const checks = await runSuite(version, url(), options);
      const common =
        'tools-list tools-call-with-progress tools-call-error dns-rebinding-protection';
      expect([...checks.keys()]).toEqual(expect.arrayContaining(`${common} ${own}`.split(' ')));
      expect(failuresOf(checks)).toEqual([]);
    },
    runMs + 10_000,
  );
});

type Given = Record<string, unknown>;

const submit = (end: string) => ({
  name: 'submit_mktb_pdp_bulk',
  arguments: { items: [{ shop_domain: 'toko-7', product_key: `barang-${end}` }] },
});
/** Submits a job that awaits approval until an operator decides. */
const submitAwaiting = () => ({
  name: 'submit_mkta_variant_sold',
  arguments: { country: 'sg', items: [{ item_id: '20000000991', shop_id: '7001' }] },
});

/** Calls of this service that replace the suite's own tools for tasks. */
const standIns: Readonly<Record<string, (given: Given) => { name: string; arguments: object }>> = {
  greet: () => ({ name: 'get_account', arguments: {} }),
  // A minute lasts longer than the suite waits before it cancels.
  slow_compute: ({ seconds }) => (Number(seconds) < 60 ? submit('100') : submitAwaiting()),
  failing_job: () => submit('800'),
  confirm_delete: submitAwaiting,
};

/** Checks of tasks that are not required, and why. All others of their scenarios are. */
const excludedChecks: ReadonlySet<string> = new Set([
  // An accepted submit always has a result.
  'sep-2663-tasks-get-status-failed',
  // Compares a text of the suite's own tool.
  'tasks-headers-tolerate-mcp-method-on-tools-call',
  // A job asks for one input.
  'tasks-mrtr-partial-fulfillment',
]);

describe.skipIf(missing !== '')(`the service${missing}`, () => {
  let fixture: SandboxFixture;
  // The suite sends no key, and names tools of its own.
  const proxy = createServer(async (request, response) => {
    const { hostname: host, port } = new URL(fixture.deployment.url);
    const { method, url: path } = request;
    const { body, tool } = await replaceTool(await text(request));
    const headers: IncomingHttpHeaders = {
      ...request.headers,
      authorization: `Bearer ${fixture.tester.key}`,
    };
    if (body !== '') headers['content-length'] = String(Buffer.byteLength(body));
    if (tool !== undefined && headers['mcp-name'] === tool.from) headers['mcp-name'] = tool.to;
    const sent = send({ host, port, method, path, headers }, (received) => {
      response.writeHead(received.statusCode!, received.headers);
      received.pipe(response);
    });
    sent.on('error', () => response.destroy());
    sent.end(body);
  });

  /** Replaces the tool that a message calls, and approves the job whose form the client accepts. */
  async function replaceTool(
    body: string,
  ): Promise<{ body: string; tool?: { from: string; to: string } }> {
    let message: { method?: unknown; params?: Given };
    try {
      message = JSON.parse(body);
    } catch {
      return { body };
    }
    const { method, params = {} } = message;
    const {
      name: from,
      arguments: given,
      taskId,
      inputResponses = {},
    } = params as Given & { name: string };
    if (method === 'tasks/update' && Object.keys(inputResponses as Given).length > 0)
      await fixture.api.operator('ApproveJob', { job_id: taskId });
    const standIn = method === 'tools/call' ? standIns[from] : undefined;
    if (standIn === undefined) return { body };
    const call = standIn(given as Given);
    return {
      body: JSON.stringify({ ...message, params: { ...params, ...call } }),
      tool: { from, to: call.name },
    };
  }

  beforeAll(async () => {
    fixture = await openSandboxFixture(false, (await embedded.open()) as Engines);
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    proxy.close();
    await fixture?.stop();
  });

  const runScenario = (revision: string, scenario: string, ...options: string[]) =>
    runSuite('conformance-next', `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`, [
      '--scenario',
      scenario,
      '--spec-version',
      revision,
      ...options,
    ]);

  test.each([
    ['2025-11-25', 'server-initialize'],
    ['2025-11-25', 'ping'],
    ['2025-11-25', 'tools-list'],
    ['2025-11-25', 'dns-rebinding-protection'],
    ['2026-07-28', 'tools-list'],
    ['2026-07-28', 'dns-rebinding-protection'],
    ['2026-07-28', 'http-header-validation'],
  ])(
    'passes the scenario of %s that needs no tool of the suite: %s',
    async (revision, scenario) => {
      const checks = await runScenario(revision, scenario);
      expect([...checks.keys()]).toEqual([scenario]);
      expect(failuresOf(checks)).toEqual([]);
    },
  );

  // An extension belongs to no revision, so that it is forced. Not run: tasks-required-task-error,
  // since no tool needs tasks; tasks-mrtr-composition, since no tool asks before it creates one;
  // and tasks-status-notifications, which the suite skips.
  test.each([
    ['tasks-capability-negotiation', 5],
    ['tasks-dispatch-and-envelope', 9],
    ['tasks-lifecycle', 8],
    ['tasks-mrtr-input', 3],
    ['tasks-request-headers', 4],
    ['tasks-request-state-removal', 3],
    ['tasks-wire-fields', 4],
  ])('passes the scenario of tasks with its jobs: %s', async (scenario, count) => {
    const checks = (await runScenario('2026-07-28', scenario, '--force')).get(scenario)!;
    const required = checks.filter(({ id }) => !excludedChecks.has(id));
    expect(required.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
    expect(required).toHaveLength(count);
  });
});
