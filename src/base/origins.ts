import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { z } from 'zod';

const address = z.url({ protocol: /^https?$/ }).transform((text) => new URL(text).origin);

const proxy = z.url({ protocol: /^(?:https?|socks5)$/, error: 'expected http://, https:// or socks5://' });

const settings = {
  fetch: z.enum(['http', 'browser']).optional(),
  concurrency: z.int().min(1).max(10_000).optional(),
  requests_per_second: z.number().positive().max(10_000).optional(),
  hosts: z.array(z.string().min(1)).optional(),
  allow_private: z.boolean().optional(),
  robots: z.boolean().optional(),
  proxy: proxy.optional(),
};

const market = z.object(settings).catchall(address);
const file = z.record(
  z.string().regex(/^mkt[a-z]$/),
  z.union([address.transform((origin) => ({ '': origin })), market]),
);

/** Origins and request limits of one market. */
export interface MarketOrigins {
  /** Base URLs by region; '' for a market with one origin. */
  addresses: ReadonlyMap<string, string>;
  fetch: 'http' | 'browser' | undefined;
  /** Maximum concurrent requests per origin. */
  concurrency: number | undefined;
  requestsPerSecond: number | undefined;
  /** Hosts that submitted URLs may name; undefined: the market's default. */
  hosts: readonly string[] | undefined;
  /** Whether stores on private addresses may be read (mktf). */
  allowPrivate: boolean;
  /** Whether robots.txt files are respected; undefined: the market's default. */
  robots: boolean | undefined;
  /** URL of the proxy that requests are sent through, with credentials. */
  proxy: string | undefined;
}

/** Origins by market, from GLEANER_ORIGINS (docs/fetching.md). Units of a market without an entry fail. */
export type Origins = ReadonlyMap<string, MarketOrigins>;

/**
 * Parses an origins file: JSON with comments and trailing commas. Throws an Error that names the invalid key, or the
 * line of a syntax error.
 */
export function parseOrigins(text: string): Origins {
  const parsed = file.safeParse(parseJsonWithComments(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  return new Map(
    Object.entries(parsed.data).map(([name, entry]) => {
      const addresses = Object.entries(entry).filter(([key]) => !(key in settings)) as [string, string][];
      const given = entry as z.infer<z.ZodObject<typeof settings>>;
      return [
        name,
        {
          addresses: new Map(addresses),
          fetch: given.fetch,
          concurrency: given.concurrency,
          requestsPerSecond: given.requests_per_second,
          hosts: given.hosts,
          allowPrivate: given.allow_private ?? false,
          robots: given.robots,
          proxy: given.proxy,
        },
      ];
    }),
  );
}

function parseJsonWithComments(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined) return value;
  const line = text.slice(0, first.offset).split('\n').length;
  throw new Error(`line ${line}: ${printParseErrorCode(first.error)}`);
}
