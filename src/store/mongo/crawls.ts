import { Binary } from 'mongodb';
import type { CrawlStore } from '../store.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';

/** Creates the MongoDB implementation of CrawlStore. */
export function crawlStore(engine: MongoEngine): CrawlStore {
  return {
    putCrawl: (key, at, body) =>
      engine.run(async ({ crawls }) => {
        // If a newer page is stored, the filter does not match it and the insert fails as a duplicate.
        const page = { $set: { at, body: new Binary(body) } };
        await unlessDuplicate(() => crawls.updateOne({ _id: key, at: { $lte: at } }, page, { upsert: true }));
      }),

    findCrawl: (key, since) =>
      engine.run(async ({ crawls }) => {
        const page = await crawls.findOne({ _id: key });
        return page === null || page.at < since ? null : { at: page.at, body: page.body.value() };
      }),
  };
}
