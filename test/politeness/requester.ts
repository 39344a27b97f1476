import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import { createHttpFetcher } from '../../src/fetch/http.ts';
import { createOriginScheduler } from '../../src/fetch/origin-scheduler.ts';
import { policyOfMarket } from '../../src/markets/lookup.ts';
import { wrapMethods } from '../../src/store/wrap.ts';

/** Parameters of the process: its only command line argument, as JSON. */
export interface RequesterOptions {
  /** Connection string of MongoDB, or the path of a SQLite file. */
  store: string;
  /** Contents of an origins file with mkta/sg of the fake marketplace. */
  origins: string;
  pages: number;
  /** Maximum pages requested or waiting at the same time. */
  concurrency: number;
}

/*
 * One of several processes that request pages of the same origin, as workers do. Prints the numbers
 * of store calls and pages.
 */
const options = JSON.parse(process.argv[2]!) as RequesterOptions;
const log = createLog('silent', 'test');
const origins = parseOrigins(options.origins);
const store = options.store.startsWith('mongodb')
  ? (await import('../../src/store/mongo/open.ts')).openMongoStore({ uri: options.store })
  : (await import('../../src/store/sqlite/open.ts')).openSqliteStore({ path: options.store });
let calls = 0;
const counting = wrapMethods(store, (name, method) => (...parameters) => {
  if (['origins.reserve', 'origins.lease'].includes(name)) calls += 1;
  return method(...parameters);
});
const common = { origins, clock: systemClock, log, userAgent: 'Gleaner/test' };
const fetcher = createHttpFetcher(common);
const scheduler = createOriginScheduler({
  policyOf: policyOfMarket,
  ...common,
  fetcher,
  store: counting,
});

let next = 0;
let served = 0;
const requestPages = async () => {
  while (next < options.pages) {
    next += 1;
    const session = scheduler.openSession('mkta', 'sg');
    const { status } = await session.fetch({
      path: `/api/v4/pdp/get_pc?item_id=${30_000_000_000 + next}&shop_id=77`,
    });
    if (status === 200) served += 1;
    await session.end(null);
  }
};
await Promise.all(Array.from({ length: options.concurrency }, requestPages));
await scheduler.close();
await fetcher.close();
await store.close();
process.stdout.write(JSON.stringify({ served, calls }));
