import { Readable } from 'node:stream';
import {
  handClock,
  request,
  recordedCaller as shopCaller,
  type TestGateway,
} from '../../../gateway/fixture/gateway.ts';
import { shopService } from '../../../gateway/fixture/shop.ts';
import type { RateLimit } from '../../access/rate-limit.ts';
import { createLog } from '../../base/log.ts';
import { missingFile } from '../../blobs/blobs.ts';
import { createBodyBudget } from '../../contract/body-budget.ts';
import { Fault } from '../../contract/fault.ts';
import { creditsHeader } from '../../contract/response-headers.ts';
import { createConversions } from './conversions.ts';
import type { FileReader } from './file-place.ts';
import { createRestApi, type RestCaller, type RestOptions } from './rest.ts';
import { startServer } from './server.ts';

/** Creates a caller over the shop that limits rates and reports readiness like the core. */
export function recordedCaller(
  responders: Parameters<typeof shopCaller>[0],
  rateLimit: RateLimit | null = null,
) {
  const core = shopCaller(responders);
  const state: { missing: Fault | undefined } = { missing: undefined };
  const caller: RestCaller = {
    started: () => true,
    call: async () => {
      throw new Fault('unauthenticated', 'The shop has no sessions.');
    },
    ready: async () => {
      if (state.missing !== undefined) throw state.missing;
    },
    authenticate: async (headers) => {
      const session = await core.caller.authenticate(headers);
      const rate = rateLimit?.take({ role: 'user', holderId: session.userId, balance: 500 });
      return { ...session, headers: { [creditsHeader]: '500', ...rate } };
    },
  };
  return { caller, calls: core.calls, state };
}

/** Creates a file reader over files in memory. */
export function memoryFiles(
  files: Record<string, string>,
  presigned?: (path: string) => string,
): FileReader {
  return {
    size: async (path) => (path in files ? Buffer.byteLength(files[path]!) : null),
    async read(path, range) {
      if (!(path in files)) throw missingFile(path);
      return Readable.from([
        Buffer.from(files[path]!).subarray(range?.start ?? 0, range && range.end + 1),
      ]);
    },
    presign: async (path) => presigned?.(path) ?? null,
  };
}

/** Creates the REST interface; by default, over a shop without responders. */
export const createApp = (options: Partial<RestOptions> = {}) =>
  createRestApi({
    services: [shopService],
    caller: recordedCaller({}).caller,
    files: memoryFiles({}),
    verifyLink: () => {
      throw new Fault('link_invalid', 'The link is not valid');
    },
    exportFile: () => {
      throw new Error('no file is served here');
    },
    restoreFile: async () => {
      throw new Fault('results_deleted', 'This file was deleted.');
    },
    conversions: createConversions(),
    log: createLog('silent', 'test'),
    clock: handClock(),
    publicUrl: () => 'http://gleaner.test',
    version: '0.0.0',
    budget: createBodyBudget(),
    ...options,
  });

/** Starts the REST interface on a free port: see createApp(). */
export async function startTestApi(options: Partial<RestOptions> = {}): Promise<TestGateway> {
  const conversions = createConversions();
  const { port, close } = await startServer(createApp({ conversions, ...options }), 0, '127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const closeAll = async (graceMs?: number) => {
    await close(graceMs);
    await conversions.close();
  };
  return { port, url, close: closeAll, ask: (path, init) => request(url, path, init) };
}
