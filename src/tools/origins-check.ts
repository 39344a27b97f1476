import { type Fetching, openFetching } from '../app/open-fetching.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { type Config, ConfigError } from '../base/config.ts';
import { createLog } from '../base/log.ts';
import type { MarketOrigins, Origins } from '../base/origins.ts';
import type { Fault } from '../contract/fault.ts';
import type { PageResponse } from '../fetch/page.ts';
import { openPageStore } from '../stack/data-folder.ts';
import { type FetchedReading, missingOf, readPage } from './page/reading.ts';
import { type RecordedExchange, recordRequests } from './page/request-recorder.ts';
import { checkTarget, type Target } from './page/target.ts';

/** Result of fetching one page of a market. */
export interface OriginCheck {
  market: string;
  region: string;
  /** Scheme, host, and port. Empty if the market has no address. */
  origin: string;
  /** Type of the page, for example "search". Empty if none was fetched. */
  page: string;
  /** HTTP status of the page. Null if there is no response. */
  status: number | null;
  /** Error code, `ok`, or `skipped`. */
  result: string;
  /** Error message. Empty if the check passed. */
  message: string;
  /** Number of listed fields found in at least one record, and of all listed fields. */
  fields: { read: number; listed: number };
  /**
   * Date of the response minus the clock of this host, in milliseconds, to the second. Null if
   * unknown.
   */
  clockSkewMs: number | null;
  /** Remedy. Empty if there is none. */
  remedy: string;
}

export interface OriginCheckOptions {
  /** Markets to check. Default: the markets of the origins file. */
  markets?: readonly string[];
  /** Ids or URLs of the pages to fetch, by market. */
  ids?: ReadonlyMap<string, string>;
  /** Receives warnings. */
  note(line: string): void;
  clock?: Clock;
}

/**
 * Fetches one page of each configured market, one after the other and within the limits shared with
 * workers. Throws a ConfigError if no origins are configured. Throws `invalid` for an unknown
 * market or id.
 */
export async function* checkOrigins(
  config: Config,
  { markets, ids = new Map(), note, clock = systemClock }: OriginCheckOptions,
): AsyncGenerator<OriginCheck> {
  const chosen = markets?.length ? markets : [...config.origins.keys()];
  if (config.origins.size === 0)
    throw new ConfigError(
      'No origins are configured. Set GLEANER_ORIGINS to a file with ' +
        'the addresses of the sites; start from origins.example.json.',
    );
  const store = await openPageStore(config, note);
  const fetching = await openFetching({
    config,
    store,
    clock,
    log: createLog('silent', 'check'),
  });
  try {
    for (const market of chosen)
      yield await checkOrigin(config.origins, fetching, market, ids.get(market), clock);
  } finally {
    await fetching.close();
    await store.close();
  }
}

async function checkOrigin(
  origins: Origins,
  { pages }: Fetching,
  market: string,
  id: string | undefined,
  clock: Clock,
): Promise<OriginCheck> {
  const settings = origins.get(market);
  const addresses: MarketOrigins['addresses'] = settings?.addresses ?? new Map();
  const target = checkTarget(market, addresses, id);
  const region = target?.region ?? '';
  const origin = addresses.get(region) ?? addresses.get('') ?? '';
  if (target === null) return skippedCheck(market, origin);
  const wire = recordRequests();
  try {
    const session = pages.openSession(market, region);
    const page = await readPage(target, session.fetch);
    const { fault } = page;
    await session.end(fault);
    return {
      market,
      region,
      page: target.page,
      ...responseOf(page, wire.exchanges().at(-1), origin),
      result: fault?.code ?? (page.records.length === 0 ? 'page_empty' : 'ok'),
      message: fault?.message ?? '',
      fields: countFields(target, page.records),
      clockSkewMs: skewOf(page.main?.response, clock),
      remedy: fault ? remedyOf(fault, market, settings?.fetch) : '',
    };
  } finally {
    wire.stop();
  }
}

const skippedCheck = (market: string, origin: string): OriginCheck => ({
  market,
  region: '',
  origin,
  page: '',
  status: null,
  result: 'skipped',
  message: 'no page to fetch',
  fields: { read: 0, listed: 0 },
  clockSkewMs: null,
  remedy: `Pass a page of a site: --id ${market}=<URL>`,
});

/**
 * Returns the origin and status of the page's response, or of the last request if there is none.
 */
function responseOf(
  { main }: FetchedReading,
  exchange: RecordedExchange | undefined,
  origin: string,
): Pick<OriginCheck, 'origin' | 'status'> {
  const url = main?.response.url ?? exchange?.url ?? (origin || 'http://none.invalid');
  return { origin: new URL(url).origin, status: main?.response.status ?? exchange?.status ?? null };
}

/** Counts the listed fields of a page, and how many of them its records have. */
function countFields(target: Target, records: FetchedReading['records']): OriginCheck['fields'] {
  const { of, missing } = missingOf(target, records);
  if (records.length === 0) return { read: 0, listed: of };
  return { read: of - missing.filter(({ share }) => share === 1).length, listed: of };
}

/** Returns the time of this machine minus the site's, in whole seconds. Null without a date. */
function skewOf(response: PageResponse | undefined, clock: Clock): number | null {
  const date = Date.parse(response?.headers.date ?? '');
  if (Number.isNaN(date)) return null;
  return Math.trunc((date - (response?.at ?? clock.now())) / 1000) * 1000;
}

const withBrowser = 'Set "fetch": "browser" for this market in the origins file, or add a "proxy".';
const withProxy = 'Lower "requests_per_second", or add a "proxy" in the region of the site.';
const withNetwork =
  'Check the address in the origins file, and the network and DNS of this machine.';

const remedies: Readonly<Record<string, string>> = {
  origin_missing: 'Add an address for this market and region to the origins file.',
  origin_paused: 'Workers paused this origin after failures. Wait, then repeat the check.',
  network: withNetwork,
  page_timeout: withNetwork,
  proxy_failed: 'Check the address and credentials of "proxy" in the origins file.',
  robots_disallowed: 'The robots.txt of the site disallows this page. "robots": false ignores it.',
  browser_missing: 'Install Chromium, or set GLEANER_BROWSER to the path of a browser.',
  browser_failed: 'Start the browser of GLEANER_BROWSER by hand to see why it fails.',
  page_throttled: withProxy,
  page_login: withProxy,
  page_region: 'Add a "proxy" in the region of the site.',
};

function remedyOf({ code }: Fault, market: string, fetch: string | undefined): string {
  if (code === 'page_not_found')
    return (
      'The site responds, but not with this page. ' +
      `Pass one that exists: --id ${market}=<id or URL>`
    );
  if (code === 'page_blocked') return fetch === 'browser' ? withProxy : withBrowser;
  return remedies[code] ?? `Inspect the page: gleaner page fetch ${market} …`;
}
