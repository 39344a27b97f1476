import { Readable } from 'node:stream';
import { hash } from '../../sandbox/random.ts';
import { sha256 } from '../../src/base/id.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Blobs } from '../../src/blobs/blobs.ts';
import { Fault } from '../../src/contract/fault.ts';
import type { PageRequest, PageResponse } from '../../src/fetch/page.ts';
import { createPageMemory } from '../../src/fetch/page-memory.ts';
import type { Pages } from '../../src/jobs/context.ts';
import type { ListReader, Market, ReadContext, RecordReader } from '../../src/markets/market.ts';
import { mkta } from '../../src/markets/mkta/index.ts';
import { type ReadTracked, trackedItem } from '../../src/markets/tracked.ts';
import type { Poster, PostMessage, PostResponse } from '../../src/outbound/post.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** Result files in memory, shared by all processes. */
export interface SharedFiles {
  files: ReadonlyMap<string, Buffer>;
  /** Reads the files without simulated faults. */
  blobs: Pick<Blobs, 'read'>;
  of(process: Process): Blobs;
}

/** Creates an empty file store. */
export function createSharedFiles(): SharedFiles {
  const files = new Map<string, Buffer>();
  const missing = (path: string) => new Fault('not_found', `There is no file ${path}.`);
  const read: Blobs['read'] = async (path, range) => {
    const content = files.get(path);
    if (content === undefined) throw missing(path);
    return Readable.from([range ? content.subarray(range.start, range.end + 1) : content]);
  };
  return {
    files,
    blobs: { read },
    of: (process) => ({
      engine: 'simulated',
      async write(path, contentType, chunks, items) {
        const parts: Buffer[] = [];
        for await (const chunk of chunks) parts.push(Buffer.from(chunk as string));
        const content = Buffer.concat(parts);
        await process.call('blobs', 'write', () => void files.set(path, content));
        return {
          path,
          contentType,
          items: items(),
          bytes: content.length,
          sha256: sha256(content),
        };
      },
      read: (path, range) => process.call('blobs', 'read', () => read(path, range)),
      size: (path) => process.call('blobs', 'size', () => files.get(path)?.length ?? null),
      presign: async () => null,
      async *list() {
        yield* await process.call('blobs', 'list', () => [...files.keys()]);
      },
      listJob: (jobId) =>
        process.call('blobs', 'listJob', () =>
          [...files.keys()].filter((path) => path.startsWith(`${jobId}/`)),
        ),
      remove: (paths) =>
        process.call('blobs', 'remove', () => {
          for (const path of paths) files.delete(path);
        }),
      removeJob: (jobId) =>
        process.call('blobs', 'removeJob', () => {
          for (const path of files.keys()) if (path.startsWith(`${jobId}/`)) files.delete(path);
        }),
      ping: () => process.call('blobs', 'ping', () => {}),
      close: async () => {},
    }),
  };
}

/** One in this many items and shops does not exist. */
const missingEvery = 9;

/** Returns true if the marketplace has the item or shop. */
export const exists = (id: string): boolean => hash(`there is ${id}`) % missingEvery !== 0;

/** Items of several jobs. */
export const sharedItems: readonly string[] = Array.from(
  { length: 8 },
  (_, index) => `${9_000_001 + index}`,
);

/** Interval between price changes of an item, in milliseconds. */
const priceMs = 45_000;

/** Returns true if the item may be missing for a while. */
export const mayVanish = (id: string): boolean => sharedItems.includes(id);

/** Returns the price of an item at a time, or null while it is missing. */
function priceAt(id: string, now: number): number | null {
  const draw = hash(`price of ${id} at ${Math.floor(now / priceMs)}`) % 4;
  return draw === 0 && mayVanish(id) ? null : 1 + draw;
}

/** Pages that the marketplace served: the item and the simulated time by the id in the response. */
export type ServedPages = Map<string, { item: string; at: number }>;

/** Creates a process's access to the simulated marketplace. Every response contains a new id. */
export function createPages(world: World, served: ServedPages, process: Process): Pages {
  const { random } = world;
  const transient = ['network', 'page_failed', 'page_throttled', 'page_blocked'] as const;
  const fetch = async ({ path }: PageRequest, signal: AbortSignal): Promise<PageResponse> => {
    const isSlow = world.happens(world.rates.pageSlow);
    await process.clock.sleep(
      isSlow ? random.integer(5_000, 30_000) : random.integer(50, 1_500),
      signal,
    );
    if (world.happens(world.rates.pageFailed))
      throw new Fault(random.pick(transient), 'Simulated.');
    const id = path.slice(path.lastIndexOf('/') + 1);
    const at = world.scheduler.now();
    const price = priceAt(id, at);
    if (!exists(id) || price === null) throw new Fault('page_not_found', `There is no ${id}.`);
    const response = world.newId();
    served.set(response, { item: id, at });
    const body = Buffer.from(JSON.stringify({ itemId: id, response, price }));
    return {
      status: 200,
      headers: {},
      body,
      url: `https://origin.test${path}`,
      at: process.clock.now(),
    };
  };
  return {
    openSession: (_market, _region, signal) => ({
      fetch: (request) => fetch(request, signal),
      end: async () => {},
    }),
    concurrency: () => 3,
    records: createPageMemory({ maxBytes: 100, clock: process.clock }).records,
    beginUrgent: () => () => {},
  };
}

const parse = ({ body }: PageResponse): JsonObject => JSON.parse(body.toString());

const record: RecordReader = {
  sort: 'record',
  extract: parse,
  read: async (input, { fetch }) => parse(await fetch({ path: `/items/${input.item_id}` })),
};

const list: ListReader = {
  sort: 'list',
  extract: (response) => [parse(response)],
  async *read(input: JsonObject, { fetch }: ReadContext) {
    for (const page of [1, 2]) {
      const entries = [parse(await fetch({ path: `/shops/${page}/${input.shop_id}` }))];
      yield { list: 'rcmd_items', entries };
    }
    return { has_more: false };
  },
};

const readTracked: ReadTracked = ({ itemId, price }) =>
  trackedItem(itemId, { price: Number(price) });

/**
 * The simulated marketplace: it has the addresses of mkta, and pages with just enough data to tell
 * them apart.
 */
export const market: Market = {
  ...mkta,
  readers: { product: record, variants: record, search: list, merchant: list },
  tracked: {
    product: readTracked,
    variants: readTracked,
    search: readTracked,
    merchant: readTracked,
  },
};

/** The simulated webhook receiver. */
export interface SimulatedReceiver {
  /** Number of times each message was accepted, by message id. */
  accepted: Map<string, number>;
  /** Message ids by event type and job. */
  ids: Map<string, Set<string>>;
  of(process: Process): Omit<Poster, 'send'>;
}

/** Creates a receiver without messages. */
export function createReceiver(world: World): SimulatedReceiver {
  const accepted = new Map<string, number>();
  const ids = new Map<string, Set<string>>();
  const receive = ({ headers, body }: PostMessage): PostResponse => {
    if (world.happens(world.rates.receiverFailed)) return { status: 503, headers: {}, text: '' };
    const id = headers['webhook-id']!;
    const { type, data } = JSON.parse(body) as { type: string; data: { job_id: string } };
    const about = `${type} ${data.job_id}`;
    accepted.set(id, (accepted.get(id) ?? 0) + 1);
    ids.set(about, (ids.get(about) ?? new Set()).add(id));
    if (world.happens(world.rates.receiverFailed))
      throw new Fault('network', 'The response was lost.');
    return { status: 204, headers: {}, text: '' };
  };
  return {
    accepted,
    ids,
    of: (process) => ({
      async post(message, signal) {
        await process.clock.sleep(world.random.integer(20, 800), signal);
        return receive(message);
      },
      close: async () => {},
    }),
  };
}
