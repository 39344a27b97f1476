/** Parsed address: the store, the page, and the filter. */
export interface StorePage {
  /** Scheme, host and port. */
  origin: string;
  /** Name of the store in results: its host, with the port if there is one. */
  store: string;
  /** Path prefix of a language or country ("/fr", "/en-us"), or "". */
  prefix: string;
  /** Handle of the collection. Null for the whole store. */
  collection: string | null;
  /** Words of the search. Null if there is no search. */
  words: string[] | null;
  type: 'collection' | 'store' | 'search';
}

const locale = /^[a-z]{2,3}(?:-[a-z0-9]{2,4})?$/i;
/** Path segments that look like a language but are not one. */
const notLocales: readonly string[] = ['cdn', 'api', 'faq', 'app', 'new', 'all'];

const accepted =
  'a store (https://store.example/), a collection (/collections/{handle}) or a search page (/search?q=…)';

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error(`the path part ${part} has invalid percent-encoding`);
  }
}

/** Returns the words of a search in lower case, without the operators of search boxes. */
export function splitWords(query: string): string[] {
  return query
    .normalize('NFKC')
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(/^["'*()]+|["'*()]+$/g, ''))
    .filter((word) => word !== '');
}

function placeOf(path: string): Pick<StorePage, 'prefix' | 'collection'> & { search: boolean } {
  const parts = path.split('/').filter((part) => part !== '');
  const first = parts[0];
  const localized =
    first !== undefined && locale.test(first) && !notLocales.includes(first.toLowerCase());
  const prefix = localized ? `/${parts.shift()!}` : '';
  if (parts.at(-1) === 'products.json') parts.pop();
  const [name, handle, ...more] = parts;
  if (name === undefined) return { prefix, collection: null, search: false };
  if (name === 'search' && handle === undefined) return { prefix, collection: null, search: true };
  if (name === 'collections' && handle !== undefined) {
    if (more.length === 0) return { prefix, collection: decoded(handle), search: false };
    if (more[0] === 'products') throw new Error(`a product's address; expected ${accepted}`);
    throw new Error('a collection filtered by tag is not supported; pass the collection itself');
  }
  throw new Error(`unsupported address; expected ${accepted}`);
}

/**
 * Parses a submitted address. A language prefix is kept; `page`, `sort_by` and other query
 * parameters of a collection are ignored, because they do not affect its products. Throws an Error
 * that describes the problem.
 */
export function storePage(address: string): StorePage {
  const url = URL.parse(address.trim());
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error(`not an http or https address; expected ${accepted}`);
  }
  if (url.username !== '' || url.password !== '')
    throw new Error('an address must not contain a user or password');
  const { prefix, collection, search } = placeOf(url.pathname);
  const words = search ? splitWords(url.searchParams.get('q') ?? '') : null;
  if (words?.length === 0) throw new Error('a search needs keywords: /search?q=…');
  const catalogueType = collection === null ? 'store' : 'collection';
  const type = words ? 'search' : catalogueType;
  return {
    origin: url.origin,
    store: url.host,
    prefix,
    collection,
    words,
    type,
  };
}
