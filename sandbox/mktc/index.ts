import { getChange } from '../changes.ts';
import { createErrorResponse, errorResponses } from '../error-responses.ts';
import type { Origin, OriginReply, OriginRequest } from '../origin.ts';
import { isSigned } from '../request-signature.ts';
import { listingPage } from './listing-page.ts';
import { page } from './pages.ts';
import { summary } from './product-page.ts';

const summaryPath = /^\/backend\/product-detail\/products\/([^/]+)\/_summary$/;
const descriptionPath = /^\/backend\/product-detail\/products\/([^/]+)\/description$/;
const merchantPath = /^\/backend\/search\/merchant\/([^/]+)$/;

function json(status: number, value: unknown): OriginReply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

function ok(data: unknown): OriginReply {
  return json(200, { code: 200, status: 'OK', data });
}

/**
 * Returns the product SKU in an id: without its prefix and, for an item's id, without its last
 * group.
 */
function fakeProduct(formattedId: string): { productSku: string; itemSku: string } {
  const [, prefix, id] = /^([a-z]{2})--(.+)$/.exec(formattedId) ?? [];
  if (prefix !== 'is') return { productSku: id ?? formattedId, itemSku: '' };
  return { productSku: id!.split('-').slice(0, 3).join('-'), itemSku: id! };
}

function productReply(formattedId: string, query: URLSearchParams): OriginReply {
  const { productSku, itemSku } = fakeProduct(formattedId);
  const digits = getChange('mktc', 'id', productSku).isRemoved ? '800' : formattedId.slice(-3);
  const requestedSku = itemSku === '' ? (query.get('defaultItemSku') ?? '') : itemSku;
  const page = (sku: string, item: string) =>
    ok(summary(sku, item, query.get('pickupPointCode') ?? '', digits));
  switch (digits) {
    case '800':
      return json(404, { code: 404, status: 'NOT_FOUND', data: null });
    case '801':
      return json(200, {
        code: 400,
        status: 'BAD_REQUEST',
        data: null,
        errors: { productSku: ['NOT_FOUND'] },
      });
    case '802':
      return ok({});
    case '803':
      return page(`${productSku}9`, '');
    case '804':
      // The default item is served for every requested item.
      return page(productSku, '');
    case '817':
      return json(200, { code: 500, status: 'INTERNAL_SERVER_ERROR', data: null });
    default:
      return page(productSku, requestedSku);
  }
}

function descriptionReply(formattedId: string): OriginReply {
  if (formattedId.endsWith('702')) return errorResponses[807]!;
  const specifications = [{ name: 'Bahan', value: 'Bambu' }];
  return ok({ description: `<p>Tentang ${formattedId}</p>`, specifications });
}

function merchantReply(code: string, query: URLSearchParams): OriginReply {
  const digits = code.slice(-3);
  const page = Number(query.get('page') ?? 1);
  const rows = Number(query.get('itemPerPage') ?? 40);
  if (digits === '800') return json(200, { code: 404, status: 'NOT_FOUND', data: null });
  if (digits === '801')
    return ok({ products: [], paging: { page: 1, total_page: 0, total_item: 0 } });
  if (digits === '817')
    return json(200, { code: 500, status: 'INTERNAL_SERVER_ERROR', data: null });
  if (digits === '820' && page > 1) return errorResponses[807]!;
  // Pages beyond the last one: the sandbox refuses them, except for listings that end in 703.
  if (digits === '710' && page > 20)
    return json(400, { code: 400, status: 'BAD_REQUEST', data: null });
  return ok(listingPage(code, query, page, rows));
}

function idOf({ url }: OriginRequest): string | undefined {
  const match =
    summaryPath.exec(url.pathname) ??
    descriptionPath.exec(url.pathname) ??
    merchantPath.exec(url.pathname);
  return match ? decodeURIComponent(match[1]!) : undefined;
}

/**
 * Marketplace C: invented products and merchants. The subject is the formatted id or merchant code.
 */
export const mktc: Origin = {
  market: 'mktc',
  regions: ['id'],
  subject: idOf,
  blocked: () => errorResponses[807]!,
  plain: (request) =>
    request.url.pathname.startsWith('/backend/') && !isSigned(request)
      ? errorResponses[807]
      : undefined,
  respond: (request) => {
    const { pathname, searchParams } = request.url;
    const htmlPage = page(request);
    if (htmlPage) return htmlPage;
    const id = idOf(request);
    if (id === undefined)
      return { status: 404, headers: { 'content-type': 'text/plain' }, body: 'not found' };
    const trouble = createErrorResponse(id);
    if (trouble) return trouble;
    if (merchantPath.test(pathname)) return merchantReply(id, searchParams);
    return descriptionPath.test(pathname) ? descriptionReply(id) : productReply(id, searchParams);
  },
};
