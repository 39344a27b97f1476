import { getChange } from '../changes.ts';
import { createErrorResponse, errorResponses } from '../error-responses.ts';
import type { Origin, OriginReply, OriginRequest } from '../origin.ts';
import { isSigned } from '../request-signature.ts';
import { categoryResponse, searchResponse, shopResponse } from './listings.ts';
import { page } from './pages.ts';
import { productPage } from './product-page.ts';
import { fakeProduct, fakeShop } from './products.ts';

type Variables = Record<string, unknown>;

interface Operation {
  operationName?: string;
  variables?: Variables;
}

function documentOperation({ body }: OriginRequest): Operation & { batched: boolean } {
  try {
    const parsed = JSON.parse(body) as Operation | Operation[];
    return { ...(Array.isArray(parsed) ? parsed[0] : parsed), batched: Array.isArray(parsed) };
  } catch {
    return { batched: false };
  }
}

function paramsOf(variables: Variables): URLSearchParams {
  return new URLSearchParams(String(variables.params ?? ''));
}

function error(message: string, root: string): Variables {
  return { data: { [root]: null }, errors: [{ message, path: [root], extensions: { code: 0 } }] };
}

function productResponse(variables: Variables): Variables {
  const shop = String(variables.shopDomain);
  const key = String(variables.productKey);
  const { id } = fakeProduct(`${shop} ${key}`);
  switch (getChange('mktb', 'id', id).isRemoved ? '800' : key.slice(-3)) {
    case '800':
      return error('product tidak ditemukan', 'pdpGetLayout');
    case '801':
      return { data: { pdpGetLayout: null } };
    case '802':
      return {
        data: { pdpGetLayout: { name: '', basicInfo: { alias: '', id: '0' }, components: [] } },
      };
    case '803':
      return { data: { pdpGetLayout: productPage(shop, `lain-${key}`) } };
    case '804':
      return { data: { pdpGetLayout: productPage(`${shop}-lain`, key) } };
    case '817':
      return error('Invalid request schema received.', 'pdpGetLayout');
    case '705':
      return { data: { variants: productPage(shop, key) } };
    default:
      return { data: { pdpGetLayout: productPage(shop, key) } };
  }
}

function shopInfo(variables: Variables): Variables {
  const name = Number(variables.id) > 0 ? String(variables.id) : String(variables.domain);
  const shop = fakeShop(name);
  if (shop.id.endsWith('800')) {
    return { data: { shopInfoByID: { result: [], error: { message: 'shop not found' } } } };
  }
  const shopCore = { domain: shop.domain, shopID: shop.id, name: shop.name };
  return {
    data: { shopInfoByID: { result: [{ shopCore, activeProduct: 1 }], error: { message: '' } } },
  };
}

const operations: Readonly<Record<string, (variables: Variables) => Variables>> = {
  PDPGetLayoutQuery: productResponse,
  SearchProductV5Query: (variables) => {
    const params = paramsOf(variables);
    return {
      data: searchResponse(
        params.get('q') ?? '',
        Number(params.get('start')),
        Number(params.get('rows')),
      ),
    };
  },
  SearchProductQuery: (variables) => {
    const params = paramsOf(variables);
    return {
      data: categoryResponse(
        params.get('sc') ?? '',
        Number(params.get('start')),
        Number(params.get('rows')),
      ),
    };
  },
  ShopInfoCore: shopInfo,
  ShopProducts: ({ sid, etalaseId, keyword, page, perPage }) => ({
    data: shopResponse(
      String(sid),
      String(etalaseId),
      String(keyword ?? ''),
      Number(page),
      Number(perPage),
    ),
  }),
};

/** Returns the product key, keyword, category or shop of a request. */
function subject(request: OriginRequest): string | undefined {
  const { variables = {} } = documentOperation(request);
  const params = paramsOf(variables);
  const name =
    variables.productKey ?? params.get('q') ?? params.get('sc') ?? variables.sid ?? variables.id;
  if (name === 0) return fakeShop(String(variables.domain)).id;
  return name === undefined || name === null ? undefined : String(name);
}

/** Returns true if a listing is refused from its second page on. */
function refusedLater(request: OriginRequest): boolean {
  const { variables = {} } = documentOperation(request);
  const page = Number(variables.page ?? paramsOf(variables).get('page') ?? 1);
  return page > 1 && subject(request)?.slice(-3) === '820';
}

function reply(request: OriginRequest): OriginReply {
  const { operationName, variables = {}, batched } = documentOperation(request);
  const operation = operations[operationName ?? ''];
  if (
    request.method !== 'POST' ||
    !operation ||
    request.url.pathname !== `/graphql/${operationName}`
  ) {
    return { status: 404, headers: { 'content-type': 'text/plain' }, body: 'not found' };
  }
  const result = operation(variables);
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(batched ? [result] : result),
  };
}

/** Marketplace B: invented products and shops, served over GraphQL. */
export const mktb: Origin = {
  market: 'mktb',
  regions: ['id'],
  subject,
  blocked: () => errorResponses[807]!,
  plain: (request) =>
    request.url.pathname.startsWith('/graphql/') && !isSigned(request)
      ? errorResponses[807]
      : undefined,
  respond: (request) =>
    page(request) ??
    (refusedLater(request)
      ? errorResponses[807]!
      : (createErrorResponse(subject(request)) ?? reply(request))),
};
