import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Settings of a peer, from its environment. */
export const settings = {
  /** Address of the shop. */
  origin: process.env.PEER_ORIGIN,
  /** Folder for its data. */
  folder: process.env.PEER_FOLDER,
  redisPort: process.env.PEER_REDIS_PORT,
  mongoUri: process.env.PEER_MONGO_URI,
};

/** Maximum concurrent requests. */
export const concurrency = Number(process.env.PEER_CONCURRENCY);

/** Returns the paths of the pages. */
export const paths = () => readFileSync(process.env.PEER_PATHS, 'utf8').trim().split('\n');

/** Returns the record of a page. */
export function recordOf({ data: { item } }) {
  const {
    item_id: id,
    title,
    currency,
    price_min,
    price_max,
    brand,
    item_rating,
    description,
    models,
  } = item;
  return { id, title, currency, price_min, price_max, brand, item_rating, description, models };
}

/**
 * Serves the commands of the benchmark, a line each: `run` collects all pages that are not
 * collected yet, `results` counts the records and the distinct ones. Ends with standard input.
 */
export async function serve({ run, results }) {
  console.log('ready');
  for await (const command of createInterface({ input: process.stdin })) {
    if (command === 'run') {
      await run();
      console.log('done');
    } else {
      const ids = await results();
      console.log(JSON.stringify({ records: ids.length, distinct: new Set(ids).size }));
    }
  }
}
