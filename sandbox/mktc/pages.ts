import type { OriginReply, OriginRequest } from '../origin.ts';
import { signedPage } from '../request-signature.ts';

/** Script of a product page: requests the summary, then the description. */
const requestProduct = (id: string, query: URLSearchParams) => `
const product = '/backend/product-detail/products/${encodeURIComponent(id)}/';
await ask(product + '_summary?' + new URLSearchParams({
  pickupPointCode: ${JSON.stringify(query.get('pickupPointCode') ?? '')}, cnc: 'false',
  defaultItemSku: ${JSON.stringify(query.get('ds') ?? '')},
}));
await ask(product + 'description');
`;

const requestShop = (code: string, query: URLSearchParams) => `
const asked = new URLSearchParams(${JSON.stringify(query.toString())});
asked.set('itemPerPage', '40');
await ask('/backend/search/merchant/${encodeURIComponent(code)}?' + asked);
`;

/** Returns the HTML page of a path. Its scripts request the data. Undefined for other paths. */
export function page(request: OriginRequest): OriginReply | undefined {
  const { pathname, searchParams } = request.url;
  const [, sort, id] = /^\/(p|merchant)\/[^/]+\/([^/]+)$/.exec(pathname) ?? [];
  if (id === undefined) return undefined;
  const asking = sort === 'p' ? requestProduct : requestShop;
  return signedPage(request, 'Toko', 'Memuat…', asking(decodeURIComponent(id), searchParams));
}
