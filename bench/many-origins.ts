import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { productPage } from '../sandbox/sites/products.ts';
import { countCommands } from './support/count-commands.ts';
import type { RestClient } from './support/rest.ts';
import { type BenchServiceOptions, startService } from './support/service.ts';

/** Course of the benchmark. */
export interface ManyOriginsOptions {
  origins: number;
  /** Items of each origin, which are one job. */
  items: number;
  requestsPerSecond: number;
  concurrency: number;
  service: BenchServiceOptions & { engines: { mongo: string; nats: string } };
}

/** Commands of MongoDB while all origins have work. */
export interface ManyOriginsResult {
  itemsPerSecond: number;
  /** Commands per second of the service without work. */
  idle: number;
  /** Commands per item, without the commands of an idle service. */
  commands: number;
  /** Commands per second and origin for the state of the origins. */
  perOriginSecond: number;
  /**
   * Commands per item by name and collection, those of an idle service included, the most frequent
   * first.
   */
  each: readonly (readonly [command: string, perItem: number])[];
}

/** Time for which an idle service is measured, in milliseconds. */
const idleMs = 10_000;

/** Share of the requests before and after the measurement, in which some origins have no work. */
const outside = 0.2;

/** Serves product pages at every loopback address, and counts them. */
async function startShops(): Promise<{ server: Server; port: number; count(): number }> {
  let requests = 0;
  const server = createServer(({ url = '' }, response) => {
    const id = /^\/p\/([\w-]+)$/.exec(url)?.[1];
    response.writeHead(id === undefined ? 404 : 200, { 'content-type': 'text/html' });
    if (id === undefined) return response.end();
    requests += 1;
    return response.end(`<!doctype html><html lang="en">${productPage(id)}</html>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return { server, port: (server.address() as AddressInfo).port, count: () => requests };
}

/** Resolves when the count has reached a value. */
async function until(count: () => number, value: number): Promise<void> {
  while (count() < value) await new Promise((resolve) => setTimeout(resolve, 20));
}

const addressOf = (index: number, port: number) => `127.1.${index >> 8}.${index & 255}:${port}`;

async function submitJobs(
  rest: RestClient,
  hosts: readonly string[],
  items: number,
): Promise<void> {
  const left = hosts.entries();
  const submit = async () => {
    for (const [index, host] of left)
      await rest.call('POST', `/v1/sites/shop-${index}/pdp/bulk/submit`, {
        items: Array.from({ length: items }, (_, item) => ({
          url: `http://${host}/p/${10_001 + item}`,
        })),
      });
  };
  await Promise.all([submit(), submit(), submit(), submit()]);
}

/** Requests of items, and commands, up to a time. */
interface Counted {
  at: number;
  requests: number;
  counts: ReadonlyMap<string, number>;
}

/** Returns the requests and the commands between two counts, the most frequent first. */
function between(one: Counted, other: Counted) {
  const commands = [...other.counts]
    .map(([command, count]) => [command, count - (one.counts.get(command) ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .sort(([, first], [, second]) => second - first);
  return {
    commands,
    requests: other.requests - one.requests,
    seconds: (other.at - one.at) / 1_000,
  };
}

const sum = (commands: readonly (readonly [command: string, count: number])[]) =>
  commands.reduce((total, [, count]) => total + count, 0);

/** Measures the commands of MongoDB per item while every origin has work. */
export async function measureManyOrigins(options: ManyOriginsOptions): Promise<ManyOriginsResult> {
  const { origins, items, requestsPerSecond, concurrency, service: setup } = options;
  const shops = await startShops();
  const counter = await countCommands(setup.engines.mongo);
  const hosts = Array.from({ length: origins }, (_, index) => addressOf(index, shops.port));
  const limits = { requests_per_second: requestsPerSecond, concurrency };
  const sites = Object.fromEntries(
    hosts.map((host, index) => [`shop-${index}`, { hosts: [host], ...limits }]),
  );
  const service = await startService({
    ...setup,
    engines: { ...setup.engines, mongo: counter.uri },
    origins: { sites: { allow_private: true } },
    sites,
  });
  const counted = () => ({
    at: performance.now(),
    requests: shops.count(),
    counts: counter.counts(),
  });
  try {
    const total = origins * items;
    const before = counted();
    await new Promise((resolve) => setTimeout(resolve, idleMs));
    const idle = between(before, counted());
    await submitJobs(service.rest, hosts, items);
    await until(shops.count, Math.max(shops.count() + 0.1 * total, outside * total));
    const first = counted();
    await until(shops.count, (1 - outside) * total);
    const busy = between(first, counted());
    const idlePerSecond = sum(idle.commands) / idle.seconds;
    const ofOrigins = busy.commands.filter(([command]) => command.endsWith(' origins'));
    return {
      itemsPerSecond: busy.requests / busy.seconds,
      idle: idlePerSecond,
      commands: (sum(busy.commands) - idlePerSecond * busy.seconds) / busy.requests,
      perOriginSecond: sum(ofOrigins) / busy.seconds / origins,
      each: busy.commands.map(([command, count]) => [command, count / busy.requests]),
    };
  } finally {
    await service.stop();
    await counter.stop();
    shops.server.closeAllConnections();
    shops.server.close();
  }
}
