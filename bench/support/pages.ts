import { productPage } from '../../sandbox/mkta/product-page.ts';

/** An item of the fake marketplace A and its page. */
export interface BenchPage {
  item_id: string;
  shop_id: string;
  body: Buffer;
}

/** Region of the items. */
export const region = 'id';

const minBytes = 7 * 1024;
const maxBytes = 9 * 1024;

/**
 * Returns the first `count` items with a page of 7 to 9 KiB. The result is the same in every
 * process.
 */
export function benchPages(count: number): BenchPage[] {
  const pages: BenchPage[] = [];
  for (let id = 10_000_123; pages.length < count; id += 1_000) {
    const body = Buffer.from(productPage(region, id, 4_242));
    if (body.length >= minBytes && body.length <= maxBytes)
      pages.push({ item_id: String(id), shop_id: '4242', body });
  }
  return pages;
}
