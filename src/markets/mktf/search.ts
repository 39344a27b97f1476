import { isObject, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { FetchPage, PageRequest, PageResponse } from '../../fetch/page.ts';
import { integer, list, object, objects, text } from '../fields.ts';
import type { ListReader } from '../market.ts';
import { newEntries } from '../new-entries.ts';
import { isOtherCountry } from '../responses/country-host.ts';
import { errorMessage, isNotFoundMessage, parseJsonResponse } from '../responses/response.ts';
import { type StorePage, storePage } from './urls.ts';

/**
 * Returns true if a store requires a password for its catalogue: by its message, or by a redirect
 * to the password page.
 */
function isClosed({ status, headers, url }: PageResponse): boolean {
  if (status === 401) return true;
  const toPassword = (address: string | undefined) =>
    URL.parse(address ?? '', url)
      ?.pathname.replace(/\/$/, '')
      .endsWith('/password') ?? false;
  return (status >= 300 && status < 400 && toPassword(headers.location)) || toPassword(url);
}

/**
 * Returns the products of a response unchanged. Throws the faults of parseJsonResponse(),
 * `page_private` for a store that requires a password; `page_not_found` if the store says so;
 * `page_unreadable` for anything but a catalogue. A 404 can also be the response of another shop
 * platform.
 */
function parseCatalogue(response: PageResponse): JsonObject[] {
  if (isClosed(response)) throw new Fault('page_private', 'the store requires a password');
  const root = parseJsonResponse(response);
  const products = isObject(root) ? root.products : undefined;
  if (!Array.isArray(products)) {
    const words = errorMessage(root);
    if (isNotFoundMessage(words))
      throw new Fault('page_not_found', `the store has no such page: ${words}`);
    const details = words === null ? '' : `: ${words}`;
    throw new Fault(
      'page_unreadable',
      `the response is not a store catalogue: it has no list of products${details}`,
    );
  }
  const found = objects(products);
  if (found.length === 0 && products.length > 0) {
    throw new Fault('page_unreadable', "the catalogue's list of products has no products");
  }
  return found;
}

/** Products per page, the platform's maximum. */
const perPage = 250;
/** Products per page of stores that ignore the requested number. */
const defaultPerPage = 30;
/** Maximum offset that the platform serves, in products. */
const deepestProduct = 25_000;
/** Maximum pages of a store. Real stores have fewer pages, so a longer catalogue is faulty. */
const maxPages = 5000;

/** Properties of every request. Stores redirect between their hosts. */
const asking = { headers: { accept: 'application/json' }, redirects: 'anywhere' } as const;

function pathOf({ prefix, collection }: StorePage): string {
  return collection === null
    ? `${prefix}/products.json`
    : `${prefix}/collections/${pathPart(collection)}/products.json`;
}

function request(catalogue: StorePage, page: number): PageRequest {
  return {
    path: `${pathOf(catalogue)}?limit=${perPage}&page=${page}`,
    origin: catalogue.origin,
    ...asking,
  };
}

function catalogueOf(input: JsonObject): StorePage {
  try {
    return storePage(text(input.url) ?? '');
  } catch (thrown) {
    throw new Fault('invalid', `url: ${(thrown as Error).message}`);
  }
}

function nameOf(product: JsonObject): string | null {
  return text(product.id) ?? text(product.handle);
}

/** Returns true if a product's title, vendor, type and tags together contain every word. */
function holds(product: JsonObject, words: readonly string[]): boolean {
  const { title, vendor, product_type, tags } = product;
  const held = [title, vendor, product_type, tags, ...list(tags)]
    .map((value) => text(value)?.normalize('NFKC').toLowerCase() ?? '')
    .join('\n');
  return words.every((word) => held.includes(word));
}

function matching(products: JsonObject[], { words }: StorePage): JsonObject[] {
  if (words) return products.filter((product) => holds(product, words));
  return products;
}

/** A store can redirect visitors to its shop for another country, which has other prices. */
function checkCountry(response: PageResponse, catalogue: StorePage): void {
  const answered = URL.parse(response.url);
  if (!answered) return;
  const prefix = /^(\/[a-z]{2,3}-[a-z]{2,4})\//i.exec(answered.pathname)?.[1];
  const moved = prefix !== undefined && prefix.toLowerCase() !== catalogue.prefix.toLowerCase();
  if (!moved && !isOtherCountry(new URL(catalogue.origin).hostname, answered.hostname)) return;
  throw new Fault(
    'page_region',
    `the store led to its shop for another country: ${answered.host}${prefix ?? ''}`,
  );
}

/** A store can redirect to another collection than the requested one. */
function checkCollection(response: PageResponse, catalogue: StorePage): void {
  const path = URL.parse(response.url)?.pathname ?? '';
  const answered = /\/collections\/([^/]+)\/products\.json$/.exec(path)?.[1];
  if (answered === undefined && (catalogue.collection === null || !path.endsWith('/products.json')))
    return;
  if (answered?.toLowerCase() === pathPart(catalogue.collection ?? '').toLowerCase()) return;
  const requested =
    catalogue.collection === null ? 'the whole store' : `collection ${catalogue.collection}`;
  throw new Fault('page_mismatch', `requested ${requested}, was redirected to ${path}`);
}

/** Returns true for pages beyond the maximum offset. */
function isTooDeep(page: number): boolean {
  return (page - 1) * perPage >= deepestProduct;
}

async function productsOn(
  page: number,
  catalogue: StorePage,
  fetch: FetchPage,
): Promise<JsonObject[]> {
  const response = await fetch(request(catalogue, page));
  // The platform refuses offsets beyond its maximum; the catalogue ends there.
  if (isTooDeep(page) && [400, 404, 422].includes(response.status)) return [];
  checkCountry(response, catalogue);
  const products = parseCatalogue(response);
  checkCollection(response, catalogue);
  return products;
}

/** Returns the number of products that a collection states, or null if it states none. */
async function statedCount(catalogue: StorePage, fetch: FetchPage): Promise<number | null> {
  if (catalogue.collection === null) return null;
  const path = pathOf(catalogue).replace(/\/products\.json$/, '.json');
  const response = await fetch({ path, origin: catalogue.origin, ...asking });
  if (response.status !== 200) return null;
  try {
    return integer(object(object(parseJsonResponse(response)).collection).products_count);
  } catch (thrown) {
    // Not every store supports this request; its result is optional.
    if (thrown instanceof Fault) return null;
    throw thrown;
  }
}

/**
 * Returns true if a collection states more products than were read before an empty page. Some
 * stores return an empty list for a collection that has products. On the first page it counts as a
 * fault, `page_unreadable`.
 */
async function hasUnlisted(
  catalogue: StorePage,
  fetch: FetchPage,
  readCount: number,
): Promise<boolean> {
  const count = (await statedCount(catalogue, fetch)) ?? 0;
  if (count <= readCount) return false;
  if (readCount > 0) return true;
  throw new Fault(
    'page_unreadable',
    `the store lists none of the ${count} products that the collection holds`,
  );
}

/**
 * Returns true if another page may follow one with this number of products. A page of the default
 * size can be full.
 */
function isFull(products: readonly JsonObject[]): boolean {
  return products.length >= perPage || products.length === defaultPerPage;
}

function extract(response: PageResponse, input: JsonObject): JsonObject[] {
  return newEntries(matching(parseCatalogue(response), catalogueOf(input)), new Set(), nameOf);
}

/** Result of one page of a catalogue. */
interface CataloguePage {
  /** Products on the page, and new ones among them. */
  count: number;
  added: number;
  /** New products that the listing keeps. */
  entries: JsonObject[];
  /** True if another page can follow. */
  full: boolean;
}

/**
 * Reads one page. The rest of its memory is released when this returns, before the next page is
 * fetched.
 */
async function readPage(
  page: number,
  catalogue: StorePage,
  seen: Set<string>,
  fetch: FetchPage,
): Promise<CataloguePage> {
  const products = await productsOn(page, catalogue, fetch);
  const added = newEntries(products, seen, nameOf);
  const entries = matching(added, catalogue);
  return {
    count: products.length,
    added: added.length,
    entries,
    full: isFull(products),
  };
}

/**
 * Reads a store's catalogue into `products`, unchanged. `input` has the `url` of a store, a
 * collection or a search page. A search reads the whole store and keeps products whose title,
 * vendor, type or tags contain every word. The summary has `store`, `collection` (null for the
 * whole store), `total_products` kept, `pages_fetched` and `has_more`. Ends at an empty page, at a
 * short page, or at a page without new products. Prices are text in the store's currency, which
 * responses do not name.
 */
export const search: ListReader = {
  sort: 'list',
  async *read(input, { fetch }) {
    let catalogue = catalogueOf(input);
    const { store, collection } = catalogue;
    const seen = new Set<string>();
    let total = 0;
    let pages = 0;
    let hasMore = false;
    for (let page = 1; page <= maxPages; page += 1) {
      const { count, added, entries, full } = await readPage(page, catalogue, seen, fetch);
      pages += 1;
      if (page === 1 && count === 0 && catalogue.collection === 'all') {
        // The collection "all" is empty if a store defines its own; the whole store is read
        // instead.
        catalogue = { ...catalogue, collection: null };
        page = 0;
        continue;
      }
      if (added === 0) {
        // The page before was full, so the catalogue continues beyond the maximum offset.
        hasMore =
          isTooDeep(page) || (count === 0 && (await hasUnlisted(catalogue, fetch, seen.size)));
        break;
      }
      total += entries.length;
      yield { list: 'products', entries };
      if (!full) break;
      hasMore = page === maxPages;
    }
    return {
      store,
      collection,
      total_products: total,
      pages_fetched: pages,
      has_more: hasMore,
    };
  },
  extract: (response, input) => extract(response, input),
};
