import { createErrorResponse, errorResponses } from '../error-responses.ts';
import type { Origin, OriginReply } from '../origin.ts';
import { sizeOf, windowOf } from '../pagination.ts';
import { changeOf, fakeProduct, productPage } from './products.ts';

/** Products on a page of a listing. */
const rows = 24;
const region = 'example';

const productPath = /^\/p\/([\w-]+)$/;
const listingPath = /^\/c\/([\w-]+)$/;

const html = (status: number, body: string): OriginReply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `<!doctype html><html lang="en">${body}</html>`,
});

/** Returns the ids of the products of a listing. */
export const listedId = (name: string, at: number): string => `${name}-${10_000 + at}`;

function listing(name: string, { pathname, searchParams }: URL): OriginReply {
  const page = Number(searchParams.get('page') ?? 1);
  const start = (page - 1) * rows;
  const ids = windowOf(name, start, rows).map((at) => listedId(name, at));
  const visibleIds = ids.filter((id) => !changeOf(id).isRemoved);
  const elements = visibleIds.map((id, at) => ({
    '@type': 'ListItem',
    position: start + at + 1,
    item: { ...fakeProduct(id), url: `/p/${id}` },
  }));
  const list = { '@context': 'https://schema.org', '@type': 'ItemList', itemListElement: elements };
  const next =
    start + rows < sizeOf(name, rows)
      ? `<link rel="next" href="${pathname}?page=${page + 1}">`
      : '';
  return html(
    200,
    `<head><title>${name}</title>${next}</head><body><h1>${name}</h1>
<script type="application/ld+json">${JSON.stringify(list)}</script>${visibleIds.map((id) => `<a href="/p/${id}">${id}</a>`).join('')}</body>`,
  );
}

/**
 * A declared site: an invented shop with structured data. The subject is a product's id or a
 * listing.
 */
export const sites: Origin = {
  market: 'sites',
  regions: [region],
  subject: ({ url }) => (productPath.exec(url.pathname) ?? listingPath.exec(url.pathname))?.[1],
  blocked: () => errorResponses[807]!,
  respond: (request) => {
    const { pathname } = request.url;
    const id = productPath.exec(pathname)?.[1];
    const name = listingPath.exec(pathname)?.[1];
    const error = createErrorResponse(id ?? name);
    if (error) return error;
    const isMissing = (id ?? name)?.endsWith('800') || (id && changeOf(id).isRemoved);
    if (isMissing || (id ?? name) === undefined) return html(404, '<title>404 Not Found</title>');
    if (id?.endsWith('801'))
      return html(200, '<title>Product not found</title><h1>Product not found</h1>');
    if (id?.endsWith('803')) return { ...html(302, ''), headers: { location: '/' } };
    return id === undefined ? listing(name!, request.url) : html(200, productPage(id));
  },
};
