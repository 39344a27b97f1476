import { z } from 'zod';
import { knownMarkets } from '../contract/job-types.ts';
import { didYouMean } from '../contract/suggest.ts';
import { readJsonc } from './jsonc.ts';
import { browserUrls } from './setting-values.ts';

const address = z
  .url({
    protocol: /^https?$/,
    error: ({ input, path }) =>
      typeof input === 'string'
        ? `"${input}" is not an address such as https://shop.example`
        : noSetting(path),
  })
  // Only the origin is used: a path would be left out of every request.
  .refine((text) => ['', '/'].includes(pathOf(text)), {
    error: ({ input }) => `"${input}" has more than a host: remove "${pathOf(String(input))}"`,
  })
  .transform((text) => new URL(text).origin);

/** Returns the part of an address after its host. */
function pathOf(text: string): string {
  const { pathname, search, hash } = new URL(text);
  return `${pathname}${search}${hash}`;
}

const proxy = z.url({
  protocol: /^(?:https?|socks5)$/,
  error: 'expected http://, https:// or socks5://',
});

/** Converts addresses separated by commas for zod. */
function readUrls(text: string, context: z.RefinementCtx): string[] {
  try {
    return browserUrls(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
}

/**
 * Maximum concurrent requests, and requests per second, of an origin: four times the peak of the
 * plan in docs/scaling.md.
 */
const maxOriginLimit = 100_000;

const settings = {
  fetch: z.enum(['http', 'browser']).optional(),
  concurrency: z.int().min(1).max(maxOriginLimit).optional(),
  requests_per_second: z.number().positive().max(maxOriginLimit).optional(),
  hosts: z.array(z.string().min(1)).optional(),
  allow_private: z.boolean().optional(),
  robots: z.boolean().optional(),
  proxy: proxy.optional(),
  sign: z.boolean().optional(),
  browser_url: z.string().transform(readUrls).optional(),
  keep_pages: z
    .string()
    .regex(/^([1-9]|[12][0-9]|30)d$/, 'expected a number of days, 1d to 30d')
    .optional(),
};

const noSetting = (path: readonly PropertyKey[] = []) =>
  `no setting and no region.${didYouMean(String(path.at(-1)), Object.keys(settings))}`;

/** Settings of a market beside its addresses by region, or one address. */
const market = z.preprocess(
  (input) => (typeof input === 'string' ? { '': input } : input),
  z
    .object(settings)
    .catchall(address)
    // A browser sends the requests of a page's scripts itself.
    .refine(({ sign, fetch }) => !sign || fetch !== 'browser', {
      path: ['sign'],
      error: 'requests of a browser are not signed: remove it, or "fetch": "browser"',
    }),
);
const marketName = z.string().refine((name) => knownMarkets.includes(name), {
  error: ({ input }) => `not a marketplace.${didYouMean(String(input), knownMarkets)}`,
});
const file = z.record(marketName, market, 'expected an object of marketplaces');

/** Origins and request limits of one market. */
export interface MarketOrigins {
  /** Base URLs by region. Empty for a market with one origin. */
  addresses: ReadonlyMap<string, string>;
  /** Positions of the addresses in the file, by region: "line 3, column 11". */
  positions: ReadonlyMap<string, string>;
  fetch: 'http' | 'browser' | undefined;
  /** Maximum concurrent requests per origin. */
  concurrency: number | undefined;
  requestsPerSecond: number | undefined;
  /** Hosts that submitted URLs may name. Undefined: the market's default. */
  hosts: readonly string[] | undefined;
  /** True if stores on private addresses may be read (mktf). */
  allowPrivate: boolean;
  /** True if robots.txt files are respected. Undefined: the market's default. */
  robots: boolean | undefined;
  /** URL of the proxy that requests are sent through, with credentials. */
  proxy: string | undefined;
  /** True if requests are signed (Web Bot Auth). */
  sign: boolean;
  /** DevTools addresses of browsers that run elsewhere. Undefined uses GLEANER_BROWSER_URL. */
  browserUrls?: readonly string[] | undefined;
  /**
   * Value of the option `keep_pages` for live jobs that have none. Undefined: pages are not kept.
   */
  keepPages?: string | undefined;
}

/**
 * Origins by market, from GLEANER_ORIGINS (docs/fetching.md). Units of a market without an entry
 * fail.
 */
export type Origins = ReadonlyMap<string, MarketOrigins>;

/** Returns the DevTools addresses of the browsers of a market that run elsewhere. */
export function browserUrlsOf(
  { origins, browserUrls }: { origins: Origins; browserUrls: readonly string[] },
  market: string,
): readonly string[] {
  return origins.get(market)?.browserUrls ?? browserUrls;
}

/**
 * Parses an origins file: JSON with comments and trailing commas. Throws an Error with a line for
 * each problem: its line, column, and key.
 */
export function parseOrigins(text: string): Origins {
  const { value, positionAt } = readJsonc(text, file, noSetting);
  const entries = Object.entries(value).map(([name, declared]): [string, MarketOrigins] => {
    const regions = Object.entries(declared).filter(([key]) => !Object.hasOwn(settings, key)) as [
      string,
      string,
    ][];
    return [
      name,
      {
        addresses: new Map(regions),
        positions: new Map(regions.map(([region]) => [region, positionAt([name, region])])),
        fetch: declared.fetch,
        concurrency: declared.concurrency,
        requestsPerSecond: declared.requests_per_second,
        hosts: declared.hosts,
        allowPrivate: declared.allow_private ?? false,
        robots: declared.robots,
        proxy: declared.proxy,
        sign: declared.sign ?? false,
        browserUrls: declared.browser_url,
        keepPages: declared.keep_pages,
      },
    ];
  });
  return new Map(entries);
}
