import { Pool } from 'undici';

/** Parameters of the load generator. */
export interface Load {
  url: string;
  path: string;
  apiKey: string;
  calls: number;
  /** Number of keep-alive connections, each with one call at a time. */
  connections: number;
}

// Calls a URL repeatedly. Uses undici's low-level handlers to be faster than the server under test.
const pools = new Map<string, Pool>();

async function run({ url, path, apiKey, calls, connections }: Load): Promise<void> {
  let pool = pools.get(url);
  if (!pool) {
    pool = new Pool(url, { connections, pipelining: 1 });
    pools.set(url, pool);
  }
  const headers = { authorization: `Bearer ${apiKey}` };
  const call = () =>
    new Promise<void>((resolve, reject) => {
      let status = 0;
      pool.dispatch(
        { path, method: 'GET', headers },
        {
          onRequestStart() {},
          onResponseStart(_controller, statusCode) {
            status = statusCode;
          },
          onResponseData() {},
          onResponseEnd: () =>
            status === 200 ? resolve() : reject(new Error(`${path} answered ${status}`)),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  let left = calls;
  const loop = async () => {
    while (left-- > 0) await call();
  };
  // Busy-waits: waking a sleeping process would cost the server more than a response.
  let spinning = true;
  const spin = () => spinning && setImmediate(spin);
  spin();
  await Promise.all(Array.from({ length: connections }, loop));
  spinning = false;
}

process.on('message', async (load: Load) => {
  await run(load);
  process.send!('done');
});
process.once('disconnect', () => process.exit(0));
process.send!('ready');
