import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRpcListener } from '../../../src/api/transport/adapter.ts';
import { listen } from '../../../src/api/transport/server.ts';
import { createBodyBudget } from '../../../src/contract/body-budget.ts';
import { findEngine, findProgram, type MissingEngine } from '../../engines/missing.ts';
import { createDeployment, type Deployment } from '../../support/service/deployment.ts';
import { run } from '../../support/service/service.ts';
import { findPythonPackages } from '../clients/tools.ts';

const h2spec = await findEngine(findH2spec());
const redbot = await findEngine(findPythonPackages('redbot-2.7.1', ['redbot==2.7.1']));
const suiteMs = 60_000;

/** Notes of the linter that do not apply. */
const accepted = new Set([
  // The header Keep-Alive, which Node sends.
  'FIELD_DEPRECATED',
]);

async function findH2spec(): Promise<{ program: string } | MissingEngine> {
  const program = findProgram('h2spec');
  return program === null ? { missing: 'h2spec is missing: bash deploy/engines.sh' } : { program };
}

describe.skipIf('missing' in h2spec)('the gRPC port', () => {
  /** Returns the cases of the suite that a server on a port passes. */
  async function passedCases(port: number): Promise<Set<string>> {
    const folder = await mkdtemp(join(tmpdir(), 'gleaner-h2spec-'));
    try {
      const report = join(folder, 'report.xml');
      const options = ['-h', '127.0.0.1', '-p', `${port}`, '-o', '1', '-j', report];
      await run('program' in h2spec ? h2spec.program : '', options, {}, folder, suiteMs);
      const cases = (await readFile(report, 'latin1')).matchAll(
        /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>(<\/testcase>)?/g,
      );
      return new Set(
        [...cases].flatMap(([, section, name, end]) => (end ? [`${section} ${name}`] : [])),
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** A server of Node that responds as the gRPC port does to an unknown path. */
  async function startBare(): Promise<Http2Server> {
    const bare = createServer((_request, response) =>
      response.writeHead(404).end('No method has this path.\n'),
    );
    bare.on('sessionError', () => {});
    await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
    return bare;
  }

  /**
   * Cases that send a wrong frame after the headers of a request. A server that has responded by
   * then has closed the stream and ignores the frame, so that they pass or fail by chance, on the
   * bare server as well. They are those that both servers fail if each frame arrives 25 ms after
   * the last one.
   */
  const racing: readonly string[] = [
    'http2/5.1 half closed (remote): Sends a DATA frame',
    'http2/5.1 half closed (remote): Sends a HEADERS frame',
    'http2/6.1 Sends a DATA frame on the stream that is not in &#34;open&#34; or &#34;half-closed (local)&#34; state',
    'http2/6.1 Sends a DATA frame with invalid pad length',
    'http2/6.9 Sends a WINDOW_UPDATE frame with a flow control window increment of 0 on a stream',
    'http2/8.1 Sends a second HEADERS frame without the END_STREAM flag',
    'http2/8.1.2.1 Sends a HEADERS frame that contains a pseudo-header field as trailers',
    'http2/8.1.2.6 Sends a HEADERS frame with the &#34;content-length&#34; header field which does not equal the DATA frame payload length',
    'http2/8.1.2.6 Sends a HEADERS frame with the &#34;content-length&#34; header field which does not equal the sum of the multiple DATA frames payload length',
  ];
  /** The bare server has no limit, so that the case is skipped there. */
  const limited =
    'http2/5.1.2 Sends HEADERS frames that causes their advertised concurrent stream limit to be exceeded';

  test(
    'passes every case of h2spec that a bare server of Node passes, and keeps its limit of streams',
    async () => {
      const bare = await startBare();
      const port = await listen(
        createRpcListener(() => {}, createBodyBudget()),
        '127.0.0.1',
        0,
      );
      try {
        const expected = await passedCases((bare.address() as AddressInfo).port);
        const passed = await passedCases(port.port);
        expect(expected.size).toBeGreaterThan(125);
        expect([...expected].filter((name) => !passed.has(name) && !racing.includes(name))).toEqual(
          [],
        );
        expect(passed).toContain(limited);
      } finally {
        await port.close();
        bare.close();
      }
    },
    3 * suiteMs,
  );
});

describe.skipIf('missing' in redbot)('the REST port', () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await createDeployment({
      stack: { distributed: false },
      engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
      origins: { config: {} } as never,
    });
    await deployment.start();
  });
  afterAll(() => deployment?.stop());

  /** Checks a resource with the linter. Returns its warnings and errors. */
  async function lint(path: string): Promise<string[]> {
    const script = ['-c', 'from redbot.cli import main; main()', '-o', 'har'];
    const environment = { PYTHONPATH: 'folder' in redbot ? redbot.folder : '' };
    const url = `${deployment.url}${path}`;
    const { stdout, stderr } = await run(
      findProgram('python3')!,
      [...script, url],
      environment,
      tmpdir(),
    );
    expect(stderr).toBe('');
    const { entries } = (JSON.parse(stdout) as Report).log;
    const notes = entries.flatMap((entry) => entry._red_messages ?? []);
    expect(notes.filter(({ level }) => level === 'GOOD').length).toBeGreaterThan(1);
    return notes
      .filter(({ level }) => !['GOOD', 'INFO'].includes(level))
      .map(({ note_id: id }) => id);
  }

  test.each([
    '/openapi.json',
    '/pgnt/openapi.json',
    '/docs',
    '/docs/guide/jobs',
    '/console',
    'an asset',
  ])(
    'serves %s without a finding of an HTTP linter',
    async (path) => {
      const page =
        path === 'an asset' ? await (await fetch(`${deployment.url}/console`)).text() : '';
      const asset = /src="(\/console\/assets\/[^"]+)"/.exec(page)?.[1];
      expect((await lint(asset ?? path)).filter((id) => !accepted.has(id))).toEqual([]);
    },
    60_000,
  );
});

/** Part of a report in the format HAR. */
interface Report {
  log: { entries: { _red_messages?: { note_id: string; level: string }[] }[] };
}
