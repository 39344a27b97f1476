import type { RequestListener } from 'node:http';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import { Fault } from '../../src/contract/fault.ts';
import { createHttpFetcher } from '../../src/fetch/http.ts';
import { defaultMarketLimits } from '../../src/fetch/limits.ts';
import { createOriginScheduler, type OriginScheduler } from '../../src/fetch/origin-scheduler.ts';
import { policyOfMarket } from '../../src/markets/lookup.ts';
import { mktf } from '../../src/markets/mktf/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { type RunningProxy, startHttpProxy } from '../support/servers/proxy.ts';
import { type InternalServer, type Site, startInternalServer, startSite } from './site.ts';

/**
 * Reads store addresses submitted by callers as the service does: address, robots.txt, catalogue.
 * `outside` is the public internet: a proxy forwards every public address to a local site. `inside`
 * is the operator's network on this machine, which no request may reach.
 */
export interface SafetyFixture {
  outside: Site;
  inside: InternalServer;
  proxy: RunningProxy;
  /** Response of the outside site. The default is a catalogue. */
  respond: RequestListener | undefined;
  /**
   * DNS answers by name, one per lookup. The last one repeats. Several addresses of one answer are
   * separated by spaces. Other names resolve to the outside site.
   */
  names: Record<string, string[]>;
  /** Settings of `mktf` in an origins file that send requests through the proxy. */
  throughProxy(): object;
  /**
   * Reads a submitted address and returns a summary of the result or the fault code. `settings` are
   * the settings of `mktf` in the origins file. If null, there is no such file.
   */
  read(url: string, settings?: object | null): Promise<string>;
  /** Resets responses, names, and recorded requests. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Address of names on the public internet. */
export const publicAddress = '93.184.216.34';

/** Default response of the outside site. */
export const catalogue = JSON.stringify({ products: [{ id: 1, title: 'Mug' }] });

/** Opens a fixture. */
export async function openSafetyFixture(): Promise<SafetyFixture> {
  const outside = await startSite((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    if (fixture.respond) return fixture.respond(request, response);
    response.writeHead(200, { 'content-type': 'application/json' }).end(catalogue);
  });
  const inside = await startInternalServer();
  const proxy = await startHttpProxy({ to: outside.port });
  let stops: (() => Promise<unknown>)[] = [];

  /** Opens the pages as the service does. */
  const open = (settings: object | null): OriginScheduler => {
    const log = createLog('silent', 'test');
    const origins = parseOrigins(JSON.stringify(settings === null ? {} : { mktf: settings }));
    const fetcher = createHttpFetcher({
      origins,
      clock: systemClock,
      log,
      userAgent: 'Gleaner/test',
      limits: {
        wireBytes: 1_000_000,
        bytes: 2_000_000,
        totalMs: 700,
        idleMs: 400,
        connectMs: 2_000,
      },
      resolve: (host, _options, callback) => {
        const left = fixture.names[host] ?? [publicAddress];
        const found = (left.length > 1 ? left.shift()! : left[0]!).split(' ');
        callback(
          null,
          found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        );
      },
    });
    const store = openSqliteStore({ path: ':memory:' });
    const pages = createOriginScheduler({
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

  const throughProxy = () => ({ proxy: `http://${proxy.address}`, requests_per_second: 1_000 });

  const fixture: SafetyFixture = {
    outside,
    inside,
    proxy,
    respond: undefined,
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
      const session = open(settings).openSession('mktf', '');
      try {
        let products = 0;
        const listing = reader.read(input, { region: '', fetch: session.fetch });
        for await (const { entries } of listing) products += entries.length;
        return `${products} products`;
      } catch (error) {
        const fault = Fault.from(error);
        await session.end(fault);
        return fault.code;
      }
    },
    clear: async () => {
      for (const stop of stops) await stop();
      stops = [];
      fixture.respond = undefined;
      fixture.names = {};
      outside.requests.length = 0;
      proxy.targets.length = 0;
    },
    stop: async () => {
      await fixture.clear();
      await proxy.stop();
      await outside.stop();
      await inside.stop();
    },
  };
  return fixture;
}
