import { type Dispatcher, H2CClient, Pool } from 'undici';

/** Parameters of the load generator of RPC. */
export interface RpcLoad {
  url: string;
  httpVersion: 1 | 2;
  path: string;
  headers: Record<string, string>;
  /** Body of each request, in base64. */
  body: string;
  /** Text at the end of a successful response: in its body, or in its trailers. */
  ending: string;
  calls: number;
  /** Calls in flight: each on a connection of HTTP/1.1, or all on one of HTTP/2. */
  concurrency: number;
}

// Calls a method repeatedly. Uses undici's low-level handlers to be faster than the server under
// test.
const dispatchers = new Map<string, Dispatcher>();

function dispatcherOf({ url, httpVersion, concurrency }: RpcLoad): Dispatcher {
  const key = `${httpVersion} ${url}`;
  let dispatcher = dispatchers.get(key);
  if (dispatcher === undefined) {
    dispatcher =
      httpVersion === 1
        ? new Pool(url, { connections: concurrency, pipelining: 1 })
        : new H2CClient(url, { maxConcurrentStreams: concurrency, pipelining: concurrency });
    dispatchers.set(key, dispatcher);
  }
  return dispatcher;
}

/** Sends a call. Rejects unless it succeeds. */
function call(dispatcher: Dispatcher, load: RpcLoad, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let received = '';
    const options = { path: load.path, method: 'POST', headers: load.headers, body } as const;
    dispatcher.dispatch(options, {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode;
      },
      onResponseData(_controller, chunk) {
        received += chunk.toString('latin1');
      },
      onResponseEnd(_controller, trailers) {
        const end = received + JSON.stringify(trailers);
        if (status === 200 && end.includes(load.ending)) resolve();
        else reject(new Error(`${load.path} responded with ${status}: ${end}`));
      },
      onResponseError: (_controller, error) => reject(error),
    });
  });
}

async function run(load: RpcLoad): Promise<void> {
  const dispatcher = dispatcherOf(load);
  const body = Buffer.from(load.body, 'base64');
  let left = load.calls;
  const loop = async () => {
    while (left-- > 0) await call(dispatcher, load, body);
  };
  await Promise.all(Array.from({ length: load.concurrency }, loop));
}

process.on('message', async (load: RpcLoad) => {
  await run(load);
  process.send!('done');
});
process.once('disconnect', () => process.exit(0));
process.send!('ready');
