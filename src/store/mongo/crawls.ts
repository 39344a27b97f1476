import { Binary } from 'mongodb';
import type { CrawlStore } from '../store.ts';
import { type Engine, unlessDuplicate } from './engine.ts';

/** Recent pages in MongoDB: a document per page, the newest wins. */
export function crawlStore(engine: Engine): CrawlStore {
  return {
    keepCrawl: (key, at, body) =>
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

    expireCrawls: (before, most) =>
      engine.run(async ({ crawls }) => {
        const old = await crawls.deleteMany({ at: { $lt: before } });
        if ((await crawls.estimatedDocumentCount()) <= most) return old.deletedCount;
        const [last] = await crawls
          .find({}, { projection: { at: 1 } })
          .sort({ at: -1 })
          .skip(most)
          .limit(1)
          .toArray();
        const more = last ? await crawls.deleteMany({ at: { $lte: last.at } }) : null;
        return old.deletedCount + (more?.deletedCount ?? 0);
      }),
  };
}
