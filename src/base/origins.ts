import { getNodeValue, type Node } from 'jsonc-parser';
import { z } from 'zod';
import { knownMarkets } from '../contract/job-types.ts';
import { didYouMean } from '../contract/suggest.ts';
import { parseJsonc, positionOf } from './jsonc.ts';

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
  sign: z.boolean().optional(),
  keep_pages: z
    .string()
    .regex(/^([1-9]|[12][0-9]|30)d$/, 'expected a number of days, 1d to 30d')
    .optional(),
};

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
  /** Value of the option `keep_pages` for live jobs that have none. Undefined: pages are not kept. */
  keepPages?: string | undefined;
}

/** Origins by market, from GLEANER_ORIGINS (docs/fetching.md). Units of a market without an entry fail. */
export type Origins = ReadonlyMap<string, MarketOrigins>;

const names = Object.keys(settings);

/** A value of the file. */
interface Place {
  path: readonly string[];
  node: Node;
}

/**
 * Parses an origins file: JSON with comments and trailing commas. Throws an Error with a line for each
 * problem: its line, column, and key.
 */
export function parseOrigins(text: string): Origins {
  const root = parseJsonc(text);
  const problems: string[] = [];
  const check = <T>({ path, node }: Place, schema: z.ZodType<T>, value: unknown = getNodeValue(node)): T => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const [{ message }] = parsed.error.issues as [z.core.$ZodIssue];
    problems.push(
      `${[positionOf(text, node.offset), ...(path.length > 0 ? [path.join('.')] : [])].join(': ')}: ${message}`,
    );
    return undefined as never;
  };
  const isObject = root?.type === 'object';
  if (!isObject)
    throw new Error(`${positionOf(text, root?.offset ?? 0)}: expected an object of marketplaces`);
  const entries = propertiesOf({ path: [], node: root }).map((place) => {
    const [name] = place.path as [string];
    if (!knownMarkets.includes(name))
      check(place, z.never(`not a marketplace.${didYouMean(name, knownMarkets)}`));
    return [name, readMarket(place, check, (node) => positionOf(text, node.offset))] as const;
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return new Map(entries);
}

/** A browser sends the requests of a page's scripts itself. */
const notSigned = z.never('requests of a browser are not signed: remove it, or "fetch": "browser"');

type Check = <T>(place: Place, schema: z.ZodType<T>, value?: unknown) => T;

/** Reads the entry of a marketplace: one address, or addresses by region beside settings. */
function readMarket(place: Place, check: Check, positionIn: (node: Node) => string): MarketOrigins {
  const isObject = place.node.type === 'object';
  const addresses = new Map<string, string>();
  const positions = new Map<string, string>();
  const given: Record<string, unknown> = {};
  if (!isObject) addresses.set('', check(place, address));
  const inside = isObject ? propertiesOf(place) : [];
  for (const inner of inside) {
    const key = inner.path.at(-1)!;
    const schema = (settings as Record<string, z.ZodType>)[key];
    if (schema !== undefined) given[key] = check(inner, schema);
    else if (inner.node.type === 'string') {
      addresses.set(key, check(inner, address));
      positions.set(key, positionIn(inner.node));
    } else check(inner, z.never(`no setting and no region.${didYouMean(key, names)}`));
  }
  const read = given as z.infer<z.ZodObject<typeof settings>>;
  if (read.sign && read.fetch === 'browser')
    check(inside.find(({ path }) => path.at(-1) === 'sign')!, notSigned);
  return {
    addresses,
    positions,
    fetch: read.fetch,
    concurrency: read.concurrency,
    requestsPerSecond: read.requests_per_second,
    hosts: read.hosts,
    allowPrivate: read.allow_private ?? false,
    robots: read.robots,
    proxy: read.proxy,
    sign: read.sign ?? false,
    keepPages: read.keep_pages,
  };
}

function propertiesOf({ path, node }: Place): Place[] {
  return (node.children ?? []).map(({ children }) => {
    const [key, value] = children as [Node, Node];
    return { path: [...path, key.value], node: value };
  });
}
