import { Binary } from 'mongodb';
import type { CrawlStore } from '../store.ts';
import { type Engine, unlessDuplicate } from './engine.ts';

/** Recent pages in MongoDB: a document per page, the newest wins. */
export function crawlStore(engine: Engine): CrawlStore {
  return {
    putCrawl: (key, at, body) =>
      engine.run(async ({ crawls }) => {
        // A newer page is there already: the filter misses it, and the insert that follows fails as a duplicate.
        const page = { $set: { at, body: new Binary(body) } };
        await unlessDuplicate(crawls.updateOne({ _id: key, at: { $lte: at } }, page, { upsert: true }));
      }),

    findCrawl: (key, since) =>
      engine.run(async ({ crawls }) => {
        const page = await crawls.findOne({ _id: key });
        return page === null || page.at < since ? null : page.body.value();
      }),
  };
}
