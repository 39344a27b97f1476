import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Configuration, Dataset, HttpCrawler, log } from '@crawlee/http';
import { concurrency, paths, recordOf, serve, settings } from './peer.mjs';

// Crawlee with its default storage: a queue of requests and a dataset in files. A later run
// continues the queue.
const { origin, folder } = settings;
log.setLevel(log.LEVELS.WARNING);
Configuration.getGlobalConfig().set('purgeOnStart', false);

await serve({
  async run() {
    const crawler = new HttpCrawler({
      minConcurrency: concurrency,
      maxConcurrency: concurrency,
      additionalMimeTypes: ['application/json'],
      async requestHandler({ json }) {
        await Dataset.pushData(recordOf(json));
      },
    });
    await crawler.run(paths().map((path) => origin + path));
  },
  async results() {
    const dataset = join(folder, 'datasets', 'default');
    const files = readdirSync(dataset).filter((name) => /^\d+\.json$/.test(name));
    return files.map((name) => JSON.parse(readFileSync(join(dataset, name), 'utf8')).id);
  },
});
