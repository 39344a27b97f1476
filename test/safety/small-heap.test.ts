import http from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embedded } from '../support/engines/engines.ts';
import { createApi, type TestApi, type TestUser } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { until } from '../support/time/until.ts';

/*
 * A process with a heap of 256 MB reads eight stores at once. Each page has 5.9 MB, just below the
 * limit, compressed to a few KB, and takes far more memory when parsed.
 */

const heapMb = 256;
const stores = 8;

const pageOf = (products: string) => zlib.gzipSync(`{"products":[${products}]}`);
const plain = Array.from(
  { length: 40_000 },
  (_, at) => `{"id":${1e8 + at},"a":[],"b":1.5,"c":2.5,"d":"${'d'.repeat(90)}"}`,
);

/** Pages by the name of a store's collection, and the expected outcome. */
const bombs: Record<string, { body: Buffer; ends: object }> = {
  // Parsed, it would take 130 MB.
  objects: {
    body: pageOf(`${'{},'.repeat(2_050_000)}{}`),
    ends: { status: 'FAILED', error: 'the page has more than 250000 JSON objects and arrays' },
  },
  numbers: {
    body: pageOf(`{"id":1,"tags":[${'1.5,'.repeat(1_500_000)}1]}`),
    ends: { status: 'SUCCESS' },
  },
  // A repeated page contains no new products.
  products: { body: pageOf(plain.join()), ends: { status: 'SUCCESS' } },
};

let site: http.Server;
let address: string;
let deployment: Deployment;
let api: TestApi;

beforeAll(async () => {
  site = http.createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    const [, sort] = /collections\/([a-z]+)/.exec(request.url!)!;
    // Waits for the other requests, so that all pages arrive together.
    setTimeout(
      () => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bombs[sort!]!.body),
      200,
    );
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const engines = await embedded.open();
  if ('missing' in engines) throw new Error('the embedded stack has no engines');
  deployment = await createDeployment({
    inProcess: false,
    stack: embedded,
    engines,
    origins: {
      config: { mktf: { allow_private: true } },
      address: () => address,
      counters: () => ({}),
      peaks: () => ({}),
      changeItem: () => {},
      stop: async () => {},
    },
    settings: { GLEANER_WORKERS: '0', NODE_OPTIONS: `--max-old-space-size=${heapMb}` },
  });
  await deployment.start();
  api = createApi(deployment);
});

afterAll(async () => {
  await deployment?.stop();
  site?.closeAllConnections();
  await new Promise((resolve) => site?.close(resolve));
});

/** Runs a job of stores of one kind and returns its tasks. */
async function readStores(user: TestUser, sort: string): Promise<object[]> {
  const items = Array.from({ length: stores }, (_, at) => ({
    url: `${address}/collections/${sort}-${at}`,
  }));
  const submitted = await api.post(user, '/v1/mktf/search/bulk/submit', { items });
  expect(submitted.status, JSON.stringify(submitted.body)).toBe(202);
  const look = async () => {
    if (!deployment.api.running()) return null;
    const path = `/v1/mktf/search/bulk/retrieve/${submitted.body.job_id}`;
    const { body } = await api.get(user, path);
    return /processing|pending|initializing/i.test(body.status) ? undefined : body;
  };
  const job = await until('the job ends', look, { withinMs: 50_000 });
  expect(job, deployment.recentLog()).not.toBeNull();
  return job.items;
}

test.each(Object.entries(bombs))(
  'eight pages of %s do not end a process of a small heap',
  async (sort, { ends }) => {
    const user = await api.createUser(stores);
    const pid = deployment.api.pid();
    const tasks = await readStores(user, sort);
    expect(deployment.api.pid()).toBe(pid);
    expect(tasks).toEqual(Array(stores).fill(expect.objectContaining(ends)));
    expect((await deployment.audit()).problems).toEqual([]);
  },
);
