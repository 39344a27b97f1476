import type { RequestListener } from 'node:http';
import { systemClock } from '../../src/base/clock.ts';
import { Fault } from '../../src/base/fault.ts';
import { createLog } from '../../src/base/log.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import { createHttpFetcher } from '../../src/fetch/http.ts';
import { defaultMarketLimits } from '../../src/fetch/limits.ts';
import { createPolitePages, type PolitePages } from '../../src/fetch/polite.ts';
import { policyOfMarket } from '../../src/markets/defaults.ts';
import { mktf } from '../../src/markets/mktf/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { type RunningProxy, startHttpProxy } from '../support/proxy.ts';
import { type Inside, type Site, startInside, startSite } from './site.ts';

/**
 * Addresses of stores that callers name, read as the service reads them: address, robots.txt, catalogue.
 * "Outside" stands for the public internet: a proxy that leads every public address to a site of ours.
 * "Inside" stands for the operator's own network, on this machine: nothing may ever reach it.
 */
export interface SafetyBench {
  outside: Site;
  inside: Inside;
  proxy: RunningProxy;
  /** What the site outside answers; a catalogue where it is not set. */
  behaves: RequestListener | undefined;
  /** Where names lead: the first time, the second time, …; the last for ever. Several addresses at
   *  once stand apart by spaces. A name that is not here leads outside. */
  names: Record<string, string[]>;
  /** What `mktf` says in an origins file that lets requests out. */
  throughProxy(): object;
  /** Reads a submitted address to its end; gives what is read, or how it is refused. `settings`: what
   *  an origins file says of `mktf`; null: there is no such file. */
  read(url: string, settings?: object | null): Promise<string>;
  /** Forgets what happened. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Address that names outside lead to. */
export const publicAddress = '93.184.216.34';

/** What the site outside answers. */
export const catalogue = JSON.stringify({ products: [{ id: 1, title: 'Mug' }] });

/** Opens the bench. */
export async function openSafety(): Promise<SafetyBench> {
  const outside = await startSite((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    if (bench.behaves) return bench.behaves(request, response);
    response.writeHead(200, { 'content-type': 'application/json' }).end(catalogue);
  });
  const inside = await startInside();
  const proxy = await startHttpProxy({ to: outside.port });
  let stops: (() => Promise<unknown>)[] = [];

  /** Pages as the service gets them. */
  const open = (settings: object | null): PolitePages => {
    const log = createLog('silent', 'test');
    const origins = parseOrigins(JSON.stringify(settings === null ? {} : { mktf: settings }));
    const fetcher = createHttpFetcher({
      origins,
      clock: systemClock,
      log,
      userAgent: 'Gleaner/test',
      limits: { wireBytes: 1_000_000, bytes: 2_000_000, totalMs: 700, idleMs: 400, connectMs: 2_000 },
      resolve: (host, _options, callback) => {
        const left = bench.names[host] ?? [publicAddress];
        const found = (left.length > 1 ? left.shift()! : left[0]!).split(' ');
        callback(
          null,
          found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        );
      },
    });
    const store = openSqliteStore({ path: ':memory:' });
    const pages = createPolitePages({
      policyOf: policyOfMarket,
      limitsOf: () => ({ ...defaultMarketLimits, unitBytes: 4_000_000, unitMs: 1_500 }),
      fetcher,
      origins,
      store,
      clock: systemClock,
      log,
      userAgent: 'Gleaner/test',
    });
    stops.push(pages.close, fetcher.close, store.close);
    return pages;
  };

  const throughProxy = () => ({ proxies: [`http://${proxy.address}`], requests_per_second: 1_000 });

  const bench: SafetyBench = {
    outside,
    inside,
    proxy,
    behaves: undefined,
    names: {},
    throughProxy,
    read: async (url, settings = throughProxy()) => {
      const reader = mktf.readers.search!;
      if (reader.sort !== 'list') throw new Error('stores are lists');
      let input: Parameters<typeof reader.read>[0];
      try {
        input = mktf.parseUrl!('search', url).input;
      } catch {
        return 'invalid';
      }
      const visit = open(settings).visit('mktf', '');
      try {
        let products = 0;
        const listing = reader.read(input, { region: '', fetch: visit.fetch });
        for await (const { entries } of listing) products += entries.length;
        return `${products} products`;
      } catch (error) {
        const fault = Fault.from(error);
        await visit.ended(fault);
        return fault.code;
      }
    },
    clear: async () => {
      for (const stop of stops) await stop();
      stops = [];
      bench.behaves = undefined;
      bench.names = {};
      outside.requests.length = 0;
      proxy.targets.length = 0;
    },
    stop: async () => {
      await bench.clear();
      await proxy.stop();
      await outside.stop();
      await inside.stop();
    },
  };
  return bench;
}
