import { randomBytes } from 'node:crypto';
import { createGleanerClient } from '../../clients/typescript/index.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { serve } from '../app/serve.ts';
import { untilAborted } from '../base/abort.ts';
import { isolatedEnvironment, loadConfig } from '../base/config.ts';
import { createProcessFolder, removeProcessFolder } from '../base/process-folder.ts';
import { Fault } from '../contract/fault.ts';
import { untilReady } from './demo/processes.ts';
import type { Trial } from './engines.ts';

export interface DevOptions {
  /** Folder for the data. Null: a temporary one, which is deleted at the end. */
  dataDir: string | null;
  /** Port of REST; 0: a free one. */
  port: number;
  io: Pick<Trial, 'env' | 'say' | 'signal'>;
}

/** Name of the user whose test keys it creates. */
const userName = 'dev';

const call = 'curl -s -H "Authorization: Bearer $KEY"';
const items = '[{"asin": "B0GLN01001", "country": "de"}, {"asin": "B0GLN01002", "country": "de"}]';

/**
 * Commands of the first example, which the README has too: they submit two products of the sandbox,
 * wait for their job, and read the records as a table. They need `URL` and `KEY`.
 */
const firstExample: readonly string[] = [
  `JOB=$(${call} -H 'Content-Type: application/json' \\`,
  `  -d '{"items": ${items}}' \\`,
  '  "$URL/v1/mkte/pdp/bulk/submit" | jq -r .job_id)',
  `${call} "$URL/v1/jobs/$JOB?wait=30s" | jq -c '{status, success, failed, cost}'`,
  `${call} "$URL/v1/jobs/$JOB/results?format=csv&columns=standard"`,
];

/**
 * Runs the whole service on this machine without any live origin, creates a test key, prints a
 * request to try, and resolves when it is stopped. Settings of a real service are ignored
 * (isolatedEnvironment()).
 */
export async function dev({ dataDir, port, io }: DevOptions): Promise<void> {
  const folder = dataDir ?? (await createProcessFolder('dev'));
  const operatorKey = `dev-${randomBytes(16).toString('base64url')}`;
  const config = loadConfig(
    isolatedEnvironment(io.env, {
      GLEANER_DATA_DIR: folder,
      GLEANER_HOST: '127.0.0.1',
      GLEANER_HTTP_PORT: String(port),
      GLEANER_GRPC_PORT: '0',
      GLEANER_OPS_PORT: 'off',
      GLEANER_LOG_LEVEL: 'error',
      GLEANER_OPERATOR_KEY: operatorKey,
      // The receivers of who develops run on this machine.
      GLEANER_PRIVATE: 'on',
      GLEANER_SANDBOX: 'on',
      GLEANER_WORKERS: '1',
      GLEANER_RETRIEVE_CACHE: 'off',
    }),
  );
  const stopped = untilAborted(io.signal);
  try {
    const service = await serve(config, 'serve', { say: () => {} }).catch((error: unknown) => {
      throw withPortOption(error, port);
    });
    try {
      const url = `http://127.0.0.1:${service.httpPort}`;
      await untilReady(url, 60);
      const key = await createTestKey(url, operatorKey);
      const grpcUrl = `http://127.0.0.1:${service.grpcPort}`;
      for (const line of instructions({ url, grpcUrl, key, operatorKey, folder })) io.say(line);
      const refused = await Promise.race([stopped, service.refused]);
      if (refused) throw refused;
    } finally {
      await service.stop();
    }
  } finally {
    if (dataDir === null) await removeProcessFolder(folder);
  }
}

/** Returns the error of a start. Its remedy for a port in use is the option of the command. */
function withPortOption(error: unknown, port: number): unknown {
  const cause = error instanceof Fault ? (error.cause as NodeJS.ErrnoException) : undefined;
  if (cause?.code !== 'EADDRINUSE') return error;
  const remedy = 'Stop the other program, or pass a free port, such as --port 8081.';
  return new Fault('unavailable', `${port} is in use. ${remedy}`, { cause });
}

/** Creates a test key of the user of an earlier run, or of a new one. */
async function createTestKey(url: string, apiKey: string): Promise<string> {
  const operator = createGleanerClient({ url, apiKey });
  const { method } = OperatorService;
  const { users } = await operator.call(method.listUsers, { search: userName });
  const existing = users.find(({ name }) => name === userName);
  const user = existing ?? (await operator.call(method.createUser, { name: userName })).user!;
  const request = { userId: user.id, name: 'gleaner dev', mode: 'test' };
  return (await operator.call(method.createApiKey, request)).apiKey;
}

interface RunningService {
  url: string;
  grpcUrl: string;
  /** Test key. */
  key: string;
  operatorKey: string;
  /** Folder of the data. */
  folder: string;
}

function instructions({ url, grpcUrl, key, operatorKey, folder }: RunningService): string[] {
  return [
    'Gleaner runs on this machine, with the sandbox only. Press Ctrl-C to stop it.',
    `  Console       ${url}/console#key=${key} as a user`,
    `                ${url}/console#key=${operatorKey} as an operator`,
    `  API           ${url}/docs`,
    `  gRPC          ${grpcUrl}, without TLS`,
    `  Agents (MCP)  ${url}/mcp, with the header Authorization: Bearer <test key>`,
    `  Test key      ${key}`,
    `  Operator key  ${operatorKey}`,
    `  Data          ${folder}`,
    '',
    'Paste into another terminal to submit a job, wait for it, and read its records:',
    `  export URL=${url} KEY=${key}`,
    ...firstExample.map((line) => `  ${line}`),
    '',
    'To see a price change, and a rule that fires:',
    `  ${url}/docs/guide/sandbox#see-a-price-change-and-a-rule-that-fires`,
    '',
    'For the command line, such as `npm run -s gleaner -- job list`:',
    `  export GLEANER_URL=${url} GLEANER_API_KEY=${key}`,
  ];
}
