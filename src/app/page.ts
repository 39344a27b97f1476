import { resolve } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { Fault } from '../base/fault.ts';
import { createLog } from '../base/log.ts';
import type { Origins } from '../base/origins.ts';
import type { Store } from '../store/store.ts';
import { hasData } from './data-folder.ts';
import { openFetching } from './fetching.ts';
import { extractLook, fetchLook } from './page/look.ts';
import { bodyFile, loadAnswer, saveAnswer } from './page/saved.ts';
import { answerLine, askedLines, exchangeLines, lookLines, targetLine } from './page/show.ts';
import type { Target } from './page/target.ts';
import { watchWire } from './page/wire.ts';
import { openStore } from './stack.ts';

type Say = (line: string) => void;

/** How a page is asked for, and where its body goes. */
interface FetchOptions {
  save?: string;
  browser?: true;
}

/** Asks the site for a page and shows everything; false where the reader made a fault of it. */
export async function runFetch(
  config: Config,
  target: Target,
  options: FetchOptions,
  say: Say,
  clock: Clock = systemClock,
): Promise<boolean> {
  const store = await storeFor(config, say);
  const log = createLog('silent', 'page');
  const origins = options.browser ? withBrowser(config.origins, target.market.name) : config.origins;
  const { pages, close } = openFetching({ config: { ...config, origins }, store, clock, log });
  const wire = watchWire();
  try {
    say(targetLine(target));
    const started = clock.now();
    const visit = pages.visit(target.market.name, target.region);
    const look = await fetchLook(target, visit.fetch);
    await visit.ended(look.fault);
    const exchanges = wire.exchanges();
    for (const line of exchanges.flatMap(exchangeLines)) say(line);
    const onWire = new Set(exchanges.map(({ url }) => url));
    const byBrowser = look.asked.filter(({ answer }) => !onWire.has(answer.url));
    for (const line of byBrowser.flatMap((asked) => askedLines(asked, clock.now() - started))) say(line);
    const file = resolve(options.save ?? bodyFile(config.dataDir, target));
    if (look.main) {
      await saveAnswer(file, look.main.answer);
      say(answerLine(look.main.answer, file));
    }
    lookLines(target, look).forEach(say);
    return look.fault === null;
  } finally {
    wire.stop();
    await close();
    await store.close();
  }
}

/** Reads a saved body and shows what is made of it; false where that is a fault. */
export async function runExtract(
  config: Config,
  target: Target,
  body: string | undefined,
  say: Say,
  clock: Clock = systemClock,
): Promise<boolean> {
  const file = resolve(body ?? bodyFile(config.dataDir, target));
  const answer = await loadAnswer(file, clock.now());
  say(targetLine(target));
  say(answerLine(answer, file));
  const look = extractLook(target, answer);
  lookLines(target, look).forEach(say);
  return look.fault === null;
}

/**
 * The store that workers share their turns at origins by, so that a look keeps to them; where none runs, one
 * of our own that is gone afterwards.
 */
async function storeFor(config: Config, say: Say): Promise<Store> {
  if (hasData(config)) {
    const store = await openStore(config);
    try {
      await store.ping();
      return store;
    } catch (error) {
      await store.close();
      say(`The store does not answer, so workers do not know of this request: ${Fault.from(error).message}`);
    }
  }
  const { openSqliteStore } = await import('../store/sqlite/open.ts');
  return openSqliteStore({ path: ':memory:' });
}

function withBrowser(origins: Origins, market: string): Origins {
  const settings = origins.get(market);
  if (!settings) throw new Fault('origin_missing', `no origin is configured for ${market}`);
  return new Map(origins).set(market, { ...settings, fetch: 'browser' });
}
