import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Crawl } from '../store.ts';
import { aTime } from './samples.ts';
import { type OpenStores, setUpStores } from './stores.ts';

/** Recently crawled pages that jobs may reuse. */
export function crawlConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const page = (text: string) => Buffer.from(JSON.stringify({ text }));
  const textOf = (crawl: Crawl | null) => crawl && JSON.parse(Buffer.from(crawl.body).toString()).text;

  test('a page is found under its key until it is too old', async () => {
    const key = `sg/${newId()}/a.$b ☃`;
    await stores.store.putCrawl(key, aTime, page('one'));
    const found = await stores.other.findCrawl(key, aTime);
    expect([found?.at, textOf(found)]).toEqual([aTime, 'one']);
    expect(await stores.store.findCrawl(key, aTime + 1)).toBeNull();
    expect(await stores.store.findCrawl(`${key}x`, 0)).toBeNull();
  });

  test('the page with the newest crawl time wins, in any order of writes', async () => {
    const key = newId();
    await stores.store.putCrawl(key, aTime + 10, page('newer'));
    await stores.store.putCrawl(key, aTime, page('older'));
    expect(textOf(await stores.store.findCrawl(key, 0))).toBe('newer');
    await stores.store.putCrawl(key, aTime + 20, page('newest'));
    expect(textOf(await stores.store.findCrawl(key, 0))).toBe('newest');
  });

  test('old pages are deleted, newer ones remain', async () => {
    const [old, late] = [newId(), newId()];
    await stores.store.putCrawl(old, aTime - 100_000, page('old'));
    await stores.store.putCrawl(late, aTime, page('late'));
    expect(await stores.store.expire({ crawls: aTime - 50_000, maxCrawls: 1_000 })).toBe(1);
    expect(await stores.store.findCrawl(old, 0)).toBeNull();
    expect(textOf(await stores.store.findCrawl(late, 0))).toBe('late');
  });

  test('above the maximum number of pages, the oldest are deleted', async () => {
    await stores.store.expire({ maxCrawls: 0 });
    const keys = Array.from({ length: 6 }, () => newId());
    for (const [turn, key] of keys.entries()) await stores.store.putCrawl(key, aTime + turn, page('kept'));
    expect(await stores.store.expire({ crawls: aTime + 1, maxCrawls: 3 })).toBe(3);
    expect(await stores.store.expire({ maxCrawls: 3 })).toBe(0);
    const kept = await Promise.all(keys.map((key) => stores.other.findCrawl(key, 0)));
    expect(kept.map(textOf)).toEqual([null, null, null, 'kept', 'kept', 'kept']);
  });
}
