import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { Pool } from 'undici';
import { benchPages } from './support/pages.ts';

// Baseline of the pipeline: concurrent loops that fetch a page, parse it, and write it to one file,
// without validation, retries, store, or credits.
const [origin, itemCount, concurrency, file] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
];
const paths = benchPages(Number(itemCount)).map(
  ({ item_id, shop_id }) => `/api/v4/pdp/get_pc?item_id=${item_id}&shop_id=${shop_id}`,
);
const pool = new Pool(origin, { connections: Number(concurrency) });

async function round(): Promise<void> {
  const output = createWriteStream(file);
  const remaining = paths.values();
  const loop = async () => {
    for (const path of remaining) {
      const { statusCode, body } = await pool.request({ path, method: 'GET' });
      const text = await body.text();
      const page = JSON.parse(text) as object;
      if (statusCode !== 200 || !('data' in page))
        throw new Error(`the origin answered ${statusCode}`);
      await new Promise((written) => output.write(text, written));
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, loop));
  output.end();
  await finished(output);
}

process.on('message', async () => {
  await round();
  process.send!('done');
});
process.once('disconnect', () => process.exit(0));
process.send!('ready');
