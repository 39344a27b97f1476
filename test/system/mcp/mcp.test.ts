import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../../src/api/rest/server.ts';
import { findEngine } from '../../engines/missing.ts';
import { openSandboxFixture, type SandboxFixture } from '../../sandbox/fixture.ts';
import { type Engines, embedded } from '../../support/engines.ts';
import { root, run } from '../../support/service.ts';
import { findNpmPackages } from '../clients/tools.ts';
import { startTestServer } from './server.ts';

const source = 'test/system/mcp/suite';
const tool = await findEngine(
  findNpmPackages(join(root, '.cache/mcp-conformance-0.1.16-0.2.0-alpha.12'), source),
);
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
  [/^tasks-/, 'an extension of the protocol: jobs have tools of their own'],
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

/** Runs scenarios of a version of the suite. Returns the checks of each that was run, by its name. */
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
      const text = await readFile(join(results, folder, 'checks.json'), 'utf8');
      checks.set(scenario, JSON.parse(text));
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
    ['2026-07-28', 'conformance-next', ['--requirements', '2026-07-28'], 'server-stateless caching'],
    ['2025-11-25', 'conformance-next', ['--requirements', '2025-11-25'], 'server-initialize ping'],
    ['2025-11-25, last release', 'conformance', ['--suite', 'all'], 'server-initialize ping'],
  ] as const)(
    'passes the suite of %s with the tools that it names',
    async (_revision, version, options, own) => {
      const checks = await runSuite(version, url(), options);
      const common = 'tools-list tools-call-with-progress tools-call-error dns-rebinding-protection';
      expect([...checks.keys()]).toEqual(expect.arrayContaining(`${common} ${own}`.split(' ')));
      expect(failuresOf(checks)).toEqual([]);
    },
    runMs + 10_000,
  );
});

describe.skipIf(missing !== '')(`the service${missing}`, () => {
  let fixture: SandboxFixture;
  // The suite sends no key.
  const proxy = createServer((request, response) => {
    const { hostname: host, port } = new URL(fixture.deployment.url);
    const headers = { ...request.headers, authorization: `Bearer ${fixture.user.key}` };
    const { method, url: path } = request;
    const sent = send({ host, port, method, path, headers }, (received) => {
      response.writeHead(received.statusCode!, received.headers);
      received.pipe(response);
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
  beforeAll(async () => {
    fixture = await openSandboxFixture(false, (await embedded.open()) as Engines);
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    proxy.close();
    await fixture?.stop();
  });

  test.each([
    ['2025-11-25', 'server-initialize'],
    ['2025-11-25', 'ping'],
    ['2025-11-25', 'tools-list'],
    ['2025-11-25', 'dns-rebinding-protection'],
    ['2026-07-28', 'tools-list'],
    ['2026-07-28', 'dns-rebinding-protection'],
    ['2026-07-28', 'http-header-validation'],
  ])('passes the scenario of %s that needs no tool of the suite: %s', async (revision, scenario) => {
    const url = `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`;
    const checks = await runSuite('conformance-next', url, [
      '--scenario',
      scenario,
      '--spec-version',
      revision,
    ]);
    expect([...checks.keys()]).toEqual([scenario]);
    expect(failuresOf(checks)).toEqual([]);
  });
});
