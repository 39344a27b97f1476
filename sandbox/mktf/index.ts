import { getChange } from '../changes.ts';
import { createErrorResponse, errorResponses } from '../error-responses.ts';
import type { Origin, OriginReply, OriginRequest } from '../origin.ts';
import { sizeOf, windowOf } from '../pagination.ts';
import { fakeProduct } from './products.ts';

/** Number of products of the whole store. */
export const storeSize = 620;
const maxPerPage = 250;
/** Maximum offset that is served, in products. */
const maxOffset = 25_000;

const cataloguePath =
  /^(?:\/([a-z]{2}(?:-[a-z]{2})?))?(?:\/collections\/([^/]+))?\/products\.json$/;
const collectionPath = /^(?:\/[a-z]{2}(?:-[a-z]{2})?)?\/collections\/([^/]+)\.json$/;

function json(status: number, value: unknown): OriginReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

/** Returns the number of products of a collection. A null handle means the whole store. */
export function sizeOfCollection(handle: string | null): number {
  return handle === null || handle === 'all' ? storeSize : sizeOf(handle, maxPerPage);
}

/** Returns a product of a collection, or of the whole store, in a language. */
export function listed(handle: string | null, at: number, locale = ''): Record<string, unknown> {
  return fakeProduct(
    handle === null || handle === 'all' ? `store ${at}` : `${handle} ${at}`,
    locale,
  );
}

function special(handle: string, page: number): OriginReply | undefined {
  switch (handle.slice(-3)) {
    case '800':
      return json(404, { errors: 'Not Found' });
    case '801':
      return {
        status: 404,
        headers: { 'content-type': 'text/html' },
        body: '<!doctype html><title>404 Not Found – Kiln 9</title><script>captcha</script>',
      };
    case '802':
      return {
        status: 430,
        headers: { 'content-type': 'text/html' },
        body: '<title>Shop security</title>',
      };
    case '803':
      return json(200, { collections: [] });
    case '805':
      return { status: 302, headers: { location: '/password' }, body: '' };
    case '806':
      return json(401, { errors: 'Unauthorized' });
    case '817':
      return json(200, { products: 'none' });
    case '820':
      return page > 1 ? errorResponses[807] : undefined;
    default:
      return undefined;
  }
}

function catalogue(handle: string | null, locale: string, query: URLSearchParams): OriginReply {
  const requestedRows = Math.min(Number(query.get('limit') ?? 30), maxPerPage);
  const page = Number(query.get('page') ?? 1);
  if (page * requestedRows > maxOffset + requestedRows - 1)
    return json(400, { errors: 'page is too deep' });
  const name = handle ?? 'all';
  // 709: a store that ignores the requested page size. 711: a route that always fails.
  const rows = name.endsWith('709') ? 30 : requestedRows;
  const start = (page - 1) * rows;
  if (name.endsWith('711')) return json(200, { products: [] });
  const isUnshifted = name === 'all' || name.endsWith('709');
  const remaining = Math.max(0, sizeOfCollection(handle) - start);
  const numbers = isUnshifted
    ? Array.from({ length: Math.min(rows, remaining) }, (_, at) => start + at)
    : windowOf(name, start, rows);
  const products = numbers
    .map((at) => listed(handle, at, locale))
    .filter(({ id }) => !getChange('mktf', '', Number(id)).isRemoved);
  return json(200, { products });
}

function handleOf({ url }: OriginRequest): string | undefined {
  const handle = cataloguePath.exec(url.pathname)?.[2] ?? collectionPath.exec(url.pathname)?.[1];
  return handle === undefined ? undefined : decodeURIComponent(handle);
}

/** Marketplace F: an invented store at every address. The subject is the collection's handle. */
export const mktf: Origin = {
  market: 'mktf',
  regions: [''],
  subject: handleOf,
  blocked: () => errorResponses[807]!,
  respond: (request) => {
    const { pathname, searchParams } = request.url;
    const handle = handleOf(request) ?? null;
    const trouble = createErrorResponse(handle ?? undefined);
    if (trouble) return trouble;
    const match = cataloguePath.exec(pathname);
    if (match) {
      const page = Number(searchParams.get('page') ?? 1);
      return special(handle ?? '', page) ?? catalogue(handle, match[1] ?? '', searchParams);
    }
    if (collectionPath.test(pathname)) {
      const count = sizeOfCollection(handle);
      return json(200, { collection: { id: 1, handle, title: handle, products_count: count } });
    }
    return {
      status: 404,
      headers: { 'content-type': 'text/html' },
      body: '<title>404 Not Found</title>',
    };
  },
};
