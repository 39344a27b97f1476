import { getChange } from '../changes.ts';
import type { Origin, OriginReply, OriginRequest } from '../origin.ts';
import { hash } from '../random.ts';
import { isSigned, signedPage } from '../request-signature.ts';
import { baseInfo, html, modelInfo, route } from './pages.ts';
import { fakeProduct, regions } from './products.ts';

const htmlHeaders = { 'content-type': 'text/html; charset=utf-8' };
const keys = {
  region: 'shop/(region)/pdp/(product_name_slug$)/(product_id)/page',
  short: 'view/product/(product_id)/page',
};

function page(body: string, status = 200): OriginReply {
  return { status, headers: htmlHeaders, body };
}

const securityCheck = page(
  '<!DOCTYPE html><html><head><title>Security Check</title></head><body><div class="captcha_verify_container secsdk-captcha"><div id="verify-ele"></div></div></body></html>',
);

function idOf({ url }: OriginRequest): string | undefined {
  return /^\/(?:view\/product|shop\/[a-z]{2}\/pdp(?:\/[^/]+)?)\/(\d{10,20})$/.exec(
    url.pathname,
  )?.[1];
}

/**
 * Returns product data with missing or wrong parts, by the id's last digits (README.md). Undefined
 * if it is unchanged.
 */
function altered(region: string, id: string): OriginReply | undefined {
  return incomplete(region, id) ?? unusable(region, id);
}

/** Returns a page that lacks parts of the product. */
function incomplete(region: string, id: string): OriginReply | undefined {
  const product = fakeProduct(region, id);
  const wrap = (data: Parameters<typeof html>[1]) => page(html(product.title, data, keys.region));
  switch (id.slice(-3)) {
    case '700':
      return wrap(route(region, id, baseInfo(product)));
    case '701':
      return wrap(route(region, id, baseInfo(product, true)));
    case '702':
      return wrap(route(region, id, modelInfo(product)));
    case '703':
      return wrap(
        route(
          region,
          id,
          { product_model: { product_id: id, name: product.title } },
          { categories: null, shop_info: null },
        ),
      );
    case '704':
      return page(
        html(product.title, route(region, id, baseInfo(product)), keys.region).replace(
          /(_price|price_val|price_str|original_price_value)":"[^"]+"/g,
          (_, name: string) => `${name}":"$2?"`,
        ),
      );
    case '705':
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(route(region, id, modelInfo(product))),
      };
    default:
      return undefined;
  }
}

/** Returns a page of a product that is unavailable, or whose data cannot be used. */
function unusable(region: string, id: string): OriginReply | undefined {
  const product = fakeProduct(region, id);
  const wrap = (data: Parameters<typeof html>[1]) => page(html(product.title, data, keys.region));
  const model = () => modelInfo(product) as Record<string, Record<string, unknown>>;
  switch (getChange('mktd', region, id).isRemoved ? '802' : id.slice(-3)) {
    case '800':
      return wrap(
        route(region, id, undefined, { error_code: 23002102, error_message: 'not available' }),
      );
    case '801':
      return page(
        '<html><head><title>Shop</title></head><body><h1>Product not available in this country or region</h1></body></html>',
      );
    case '802':
      return wrap(
        route(region, id, {
          product_id: id,
          title: product.title,
          unavailable_info: { reason: 4, text: 'This item has been removed' },
        }),
      );
    case '803':
      return wrap(
        route(
          region,
          id,
          modelInfo({ ...product, id: `${id.slice(0, -4)}0${id.slice(-3)}`.replace(/^./, '2') }),
        ),
      );
    case '808':
      return wrap({ ...route(region, id, undefined), bot_info: { is_bot: true } });
    case '813':
      return page(
        html(product.title, route(region, id, modelInfo(product)), keys.region).replace(
          '"components_map":[',
          '"components_map":[{',
        ),
      );
    case '814':
      return wrap({ page_config: { components_map: [] } });
    case '815':
      return wrap(
        route(region, id, { ...model(), product_model: { ...model().product_model, name: '' } }),
      );
    default:
      return undefined;
  }
}

const refusals: Readonly<Record<string, OriginReply>> = {
  807: securityCheck,
  809: page('<html><head><title>Access Denied</title></head></html>', 403),
  812: page('<html><body>Internal Server Error</body></html>', 500),
  816: page('<html><body>Not Found</body></html>', 404),
};

/**
 * Returns the page that a browser receives first: its script requests the data with the page's
 * seal.
 */
const shell = `
const response = await ask(location.pathname + location.search);
const { title, body } = new DOMParser().parseFromString(await response.text(), 'text/html');
document.title = title;
document.body.innerHTML = body.innerHTML;
`;

/**
 * Marketplace D: invented products in all six regions, half of them in each generation of pages.
 */
export const mktd: Origin = {
  market: 'mktd',
  regions: Object.keys(regions),
  subject: idOf,
  blocked: () => securityCheck,
  plain: (request) => (isSigned(request) ? undefined : signedPage(request, 'Shop', '', shell)),
  respond: (request) => {
    const id = idOf(request);
    const short = request.url.pathname.startsWith('/view/');
    if (id === undefined || short !== (request.region === 'id')) return refusals[816]!;
    const reply = refusals[id.slice(-3)] ?? altered(request.region, id);
    if (reply) return reply;
    const product = fakeProduct(request.region, id);
    const info = hash(id) % 2 === 0 ? baseInfo(product) : modelInfo(product);
    return page(
      html(product.title, route(request.region, id, info), short ? keys.short : keys.region),
    );
  },
};
