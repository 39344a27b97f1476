import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { number, object, objects, text } from '../fields.ts';
import {
  attribute,
  bodyText,
  byId,
  find,
  findAll,
  type HtmlPage,
  parseHtml,
  scriptText,
  workOf,
} from '../html/html.ts';
import { jsonAfter, parseJson } from '../json/script-json.ts';
import { isSuccess, statusFault } from '../responses/response.ts';
import { createOtherRegionTest, missingDataFault, missingProductFault } from './faults.ts';

/** Location of a product's data in a page. */
export interface ProductData {
  /**
   * `component_data` of the product component: product_info, categories, shop_info, sale_region, …
   */
  data: JsonObject;
  /** `product_info` of the product component. */
  info: JsonObject;
  /** `component_data` of the page's other components, by `component_type`. */
  components: ReadonlyMap<string, JsonObject>;
  /** Addresses of the page itself, the canonical one first. */
  addresses: readonly string[];
}

const entities: Readonly<Record<string, string>> = {
  quot: '"',
  lt: '<',
  gt: '>',
  '#39': "'",
  '#x27': "'",
  amp: '&',
};

function unescaped(source: string): string {
  if (!/^\s*\{\s*&quot;/.test(source)) return source;
  return source.replace(/&(quot|lt|gt|#39|#x27|amp);/g, (_, name: string) => entities[name]!);
}

function embedded(page: HtmlPage): Json | undefined {
  const script = byId(page, '__MODERN_ROUTER_DATA__');
  if (script) return parseJson(unescaped(scriptText(script)));
  for (const other of findAll(page.root, 'script')) {
    const source = scriptText(other);
    if (source.includes('_ROUTER_DATA'))
      return jsonAfter(source, '_ROUTER_DATA', workOf(page.root));
  }
  return undefined;
}

/**
 * Returns the data of the page's route. In HTML the data of other routes are null; a response of
 * the loader is the route's data itself.
 */
function routeData(root: JsonObject): JsonObject | undefined {
  const inner = isObject(root.data) && 'page_config' in root.data ? root.data : root;
  if (isObject(inner.page_config)) return inner;
  const routes = Object.entries(object(root.loaderData)).filter(([, route]) =>
    isObject(object(route).page_config),
  );
  const product = routes.find(([name]) => name.endsWith('(product_id)/page')) ?? routes[0];
  return product && object(product[1]);
}

function componentsOf(route: JsonObject): JsonObject[] {
  const map = object(route.page_config).components_map;
  return objects(isObject(map) ? Object.values(map) : map);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function typeOf(component: JsonObject): string {
  return text(component.component_type) ?? text(component.component_name) ?? '';
}

/** Returns the data of components by their type. A component without a type has the name ''. */
function componentData(route: JsonObject): Map<string, JsonObject> {
  const components = new Map<string, JsonObject>();
  for (const component of componentsOf(route)) {
    const { component_data: source } = component;
    const data = typeof source === 'string' ? parseJson(source) : source;
    if (isObject(data)) components.set(typeOf(component), data);
  }
  return components;
}

/** Throws the fault of an error status, and of a redirect to another region. */
function checkResponse(response: PageResponse, region: string): void {
  const isOtherRegion = createOtherRegionTest(region);
  if (!isSuccess(response)) throw statusFault(response, null, isOtherRegion);
  const url = URL.parse(response.url);
  if (url && isOtherRegion(url)) {
    throw new Fault(
      'page_region',
      `asked for region ${region}, was led to ${url.host}${url.pathname}`,
    );
  }
}

/** Throws `page_region` for a product that the page states to be sold in another region. */
function checkSaleRegion(data: JsonObject, region: string): void {
  const saleRegion = text(data.sale_region)?.toLowerCase();
  if (saleRegion !== undefined && saleRegion !== region)
    throw new Fault('page_region', `asked for region ${region}, the page is about ${saleRegion}`);
}

/** Data of a route, and the page that embeds them. */
interface EmbeddedRoute {
  route: JsonObject;
  /** Undefined for the JSON of the page's loader. */
  page: HtmlPage | undefined;
}

function readRoute(response: PageResponse): EmbeddedRoute {
  const body = bodyText(response);
  const json = parseJson(body);
  const page = json === undefined ? parseHtml(body) : undefined;
  const root = page ? embedded(page) : json;
  const route = isObject(root) ? routeData(root) : undefined;
  if (route) return { route, page };
  if (page) throw missingDataFault(body, page);
  throw new Fault('page_unreadable', 'the site sent JSON without product data');
}

/**
 * Finds the product's data in a response: router data embedded in HTML, or the JSON of the page's
 * loader. Faults: by status; `page_blocked` for a security check; `page_not_found` for a product
 * that is withdrawn or not offered in the region; `page_region` for another region's page; the
 * faults of unexpectedPage() for other pages without data; `page_unreadable` for data in an unknown
 * form.
 */
export function productData(response: PageResponse, region: string): ProductData {
  checkResponse(response, region);
  const { route, page } = readRoute(response);
  const components = componentData(route);
  const global = object(object(object(route.page_config).global_data).product_info);
  const data = components.get('product_info') ?? global;
  const info = object(data.product_info);
  if ((number(data.error_code) ?? 0) !== 0 || Object.keys(info).length === 0)
    throw missingProductFault(route, data);
  checkSaleRegion(data, region);
  components.delete('product_info');
  const categories = objects(data.categories).length > 0 ? data.categories : global.categories;
  const canonical = page && attribute(find(page.root, 'link[rel="canonical"]'), 'href');
  const addresses = [canonical, text(object(route.route_info).request_url), response.url].filter(
    isText,
  );
  const dataWithCategories = categories === undefined ? { ...data } : { ...data, categories };
  return {
    data: dataWithCategories,
    info,
    components,
    addresses,
  };
}
