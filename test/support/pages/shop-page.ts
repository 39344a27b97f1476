import type { Candidate } from '../../../src/markets/candidates/candidates.ts';
import { parseSites } from '../../../src/markets/declared-sites/site-declaration.ts';
import { recordOf } from '../../../src/markets/declared-sites/site-fields.ts';
import { openSitePage } from '../../../src/markets/declared-sites/site-page.ts';
import {
  readProductPage,
  type ShopReading,
} from '../../../src/markets/declared-sites/site-product.ts';
import { parseHtml } from '../../../src/markets/html/html.ts';

const [site] = parseSites('{"kiln": "kiln.example"}');
const url = 'https://kiln.example/p/oat-mug-48213';

/** A record with the sources of its fields. */
export type ShopPageRecord = Record<string, unknown> &
  Pick<ShopReading, 'from'> & { contradictions: readonly Candidate[] };

/**
 * Reads a product page of a shop that is declared by its host alone. Returns null if it is none.
 */
export function readShopPage(html: string): ShopPageRecord | null {
  const found = readProductPage(openSitePage(parseHtml(html), url, site!));
  if (found === null) return null;
  const { from } = found;
  const contradictions = found.contradictions.flatMap(({ candidates }) => candidates);
  return { ...recordOf(found, url, site!), from, contradictions };
}

/** Returns structured data of the product of shopPage(). */
export function jsonLd(offer: object, members: object = {}): string {
  const product = { '@type': 'Product', name: 'Oat mug', offers: offer, ...members };
  return `<script type="application/ld+json">${JSON.stringify(product)}</script>`;
}

/** Returns a page with the heading of a product. */
export const shopPage = (body: string): string =>
  `<title>Oat mug | Kiln</title><nav><a>Cart: € 0,00</a></nav><main><h1>Oat mug</h1>${body}</main>`;

export const buyButton = '<button>Add to cart</button>';
