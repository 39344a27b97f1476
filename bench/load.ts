import { Pool } from 'undici';

/** What the generator is asked to do. */
export interface Load {
  url: string;
  path: string;
  apiKey: string;
  calls: number;
  /** Connections, kept alive, each with one call under way. */
  connections: number;
}

// Calls an address over and over. Takes undici's events as they come, so that it is faster than what it calls.
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
          onResponseEnd: () => (status === 200 ? resolve() : reject(new Error(`${path} answered ${status}`))),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  let left = calls;
  const loop = async () => {
    while (left-- > 0) await call();
  };
  // Spins while it works: waking a sleeping process costs the server that writes to it more than an answer.
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
