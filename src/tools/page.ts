import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { openFetching } from '../app/open-fetching.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { sha256 } from '../base/id.ts';
import { createLog } from '../base/log.ts';
import type { Origins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import type { PageResponse } from '../fetch/page.ts';
import { declaredSites } from '../markets/declared-sites/declared-sites.ts';
import { openPageStore } from '../stack/data-folder.ts';
import { extractPage, type FetchedReading, readPage } from './page/reading.ts';
import { recordRequests } from './page/request-recorder.ts';
import {
  browserLines,
  exchangeLines,
  readingLines,
  responseLine,
  targetLine,
} from './page/show.ts';
import { type Target, targetOf } from './page/target.ts';

export type Say = (line: string) => void;

/** Finds a page as targetOf() does, also of a site that the configuration declares. */
export function openTarget({ siteFiles }: Config, ...query: Parameters<typeof targetOf>): Target {
  declaredSites.use(siteFiles);
  return targetOf(...query);
}

/** Options for runFetch(). */
interface FetchOptions {
  /** Path of the saved body. Default: in the data folder. */
  save?: string;
  /** True to use the browser, regardless of the origins file. */
  browser?: true;
}

/**
 * Fetches a page, prints the requests and the result, and saves the body. Returns false if the
 * result is a fault.
 */
export async function runFetch(
  config: Config,
  target: Target,
  options: FetchOptions,
  say: Say,
  clock: Clock = systemClock,
): Promise<boolean> {
  const origins = options.browser
    ? withBrowser(config.origins, target.market.name)
    : config.origins;
  const wire = recordRequests();
  try {
    say(targetLine(target));
    const started = clock.steady();
    const [page] = (await readTargets({ ...config, origins }, [target], say, clock)) as [
      FetchedReading,
    ];
    const exchanges = wire.exchanges();
    for (const line of exchanges.flatMap(exchangeLines)) say(line);
    const onWire = new Set(exchanges.map(({ url }) => url));
    const byBrowser = page.fetched.filter(({ response }) => !onWire.has(response.url));
    for (const line of byBrowser.flatMap((page) => browserLines(page, clock.steady() - started)))
      say(line);
    const file = resolve(options.save ?? bodyFile(config.dataDir, target));
    if (page.main) {
      await saveResponse(file, page.main.response);
      say(responseLine(page.main.response, file));
    }
    readingLines(target, page).forEach(say);
    return page.fault === null;
  } finally {
    wire.stop();
  }
}

/** Reads pages from their sites as a worker does, within the limits of their origins. */
export async function readTargets(
  config: Config,
  targets: readonly Target[],
  say: Say,
  clock: Clock,
): Promise<FetchedReading[]> {
  const store = await openPageStore(config, say);
  const { pages, close } = await openFetching({
    config,
    store,
    clock,
    log: createLog('silent', 'page'),
  });
  try {
    return await Promise.all(
      targets.map(async (target) => {
        const session = pages.openSession(target.market.name, target.region);
        const page = await readPage(target, session.fetch);
        await session.end(page.fault);
        return page;
      }),
    );
  } finally {
    await close();
    await store.close();
  }
}

/** Reads a saved body and prints the result. Returns false if it is a fault. */
export async function runExtract(
  config: Config,
  target: Target,
  body: string | undefined,
  say: Say,
  clock: Clock = systemClock,
): Promise<boolean> {
  const file = resolve(body ?? bodyFile(config.dataDir, target));
  const response = await loadResponse(file, clock.now());
  say(targetLine(target));
  say(responseLine(response, file));
  const page = extractPage(target, response);
  readingLines(target, page).forEach(say);
  return page.fault === null;
}

function withBrowser(origins: Origins, market: string): Origins {
  const settings = origins.get(market);
  if (!settings) throw new Fault('origin_missing', `no origin is configured for ${market}`);
  if (settings.sign)
    throw new Fault(
      'invalid',
      `--browser: requests to ${market} are signed ("sign" in the origins file)`,
    );
  return new Map(origins).set(market, { ...settings, fetch: 'browser' });
}

/** Content of the metadata file of a saved body: status, headers, URL, and time of the response. */
type Envelope = Omit<PageResponse, 'body'>;

const envelopeOf = (file: string): string => `${file}.answer.json`;

/** Returns the default path of a target's saved body. */
function bodyFile(dataDir: string, { market, page, region, input }: Target): string {
  const about = Object.values(input)
    .map(String)
    .join('-')
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 60);
  const name = [market.name, page, region, about, sha256(JSON.stringify(input)).slice(0, 8)];
  return join(dataDir, 'pages', `${name.filter((part) => part !== '').join('-')}.body`);
}

/**
 * Saves the body of a response, and a metadata file with its status and headers without cookies.
 */
async function saveResponse(file: string, response: PageResponse): Promise<void> {
  const { body, ...envelope } = response;
  const { 'set-cookie': _, ...headers } = envelope.headers;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, body);
  await writeFile(envelopeOf(file), `${JSON.stringify({ ...envelope, headers }, null, 2)}\n`);
}

/**
 * Loads a saved response. A body from another source gets status 200 and the time `now`. Throws
 * `not_found`.
 */
async function loadResponse(file: string, now: number): Promise<PageResponse> {
  const body = await readFile(file).catch((error: Error) => {
    throw new Fault('not_found', `no saved page: ${error.message}`);
  });
  const text = await readFile(envelopeOf(file), 'utf8').catch(() => null);
  if (text === null)
    return {
      status: 200,
      headers: {},
      url: 'http://saved.invalid/',
      at: now,
      body,
    };
  return { ...(JSON.parse(text) as Envelope), body };
}
