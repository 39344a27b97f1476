import type { OriginReply, OriginRequest } from '../origin.ts';
import { signedPage } from '../request-signature.ts';
import { fakeShop } from './products.ts';

/**
 * Sends an operation as the site's pages do. The query is empty, because the sandbox ignores it.
 */
function operationScript(operationName: string, variables: object): string {
  return `
await ask('/graphql/${operationName}', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: ${JSON.stringify(JSON.stringify([{ operationName, variables, query: 'query' }]))},
});`;
}

function search(query: URLSearchParams): string {
  const page = Number(query.get('page') ?? 1);
  const params = new URLSearchParams({
    q: query.get('q') ?? '',
    page: String(page),
    rows: '60',
    start: String((page - 1) * 60),
  });
  return operationScript('SearchProductV5Query', { params: params.toString() });
}

/**
 * Returns the HTML page of a request. Its scripts request the data. Undefined for other requests.
 */
export function page(request: OriginRequest): OriginReply | undefined {
  const { method, url } = request;
  const parts = url.pathname.split('/').slice(1).map(decodeURIComponent);
  if (method !== 'GET' || parts[0] === '' || parts[0] === 'graphql') return undefined;
  const show = (code: string) => signedPage(request, 'Pasar', 'Memuat…', code);
  if (url.pathname === '/search') return show(search(url.searchParams));
  const [shop, second, third, ...rest] = parts as [string, ...string[]];
  if (second === undefined) return show(operationScript('ShopInfoCore', { id: 0, domain: shop }));
  if (third === undefined) {
    return show(operationScript('PDPGetLayoutQuery', { shopDomain: shop, productKey: second }));
  }
  const etalaseId = second === 'etalase' ? third : 'etalase';
  const keyword = url.searchParams.get('q') ?? '';
  const variables = {
    sid: fakeShop(shop).id,
    etalaseId,
    keyword,
    page: Number(rest.at(-1)),
    perPage: 80,
  };
  return show(operationScript('ShopProducts', variables));
}
