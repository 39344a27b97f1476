import { Fault } from '../../base/fault.ts';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { PageAnswer } from '../../fetch/page.ts';
import { statusFault } from '../answer.ts';
import { number, object, objects, text } from '../fields.ts';
import { attribute, bodyText, byId, find, findAll, type HtmlPage, parseHtml, scriptText } from '../html.ts';
import { jsonAfter, parseJson } from '../script-json.ts';
import { outside, withoutData, withoutProduct } from './faults.ts';

/** Where a page's data about its product lie. */
export interface ProductData {
  /** `component_data` of the product component: product_info, categories, shop_info, sale_region, … */
  data: JsonObject;
  /** Its `product_info`. */
  info: JsonObject;
  /** `component_data` of the page's other components, by `component_type`. */
  others: ReadonlyMap<string, JsonObject>;
  /** Addresses that the page gives for itself, the canonical one first. */
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
    if (source.includes('_ROUTER_DATA')) return jsonAfter(source, '_ROUTER_DATA');
  }
  return undefined;
}

/** The data of the one route that the page is for: in an HTML page the others are null; the answer of
 *  the loader is the route's data itself. */
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
  return String(component.component_type ?? component.component_name ?? '');
}

/**
 * Finds the product's data in an answer: router data embedded in an HTML page, or the bare JSON that the
 * page's loader answers. Faults: by status; `page_blocked` for a security check, `page_not_found` for a
 * product that is withdrawn or not offered in the region, `page_region` for a page that is another region's,
 * those of `strangePage` for other pages without data, `page_unreadable` for data of another shape.
 */
export function productData(answer: PageAnswer, region: string): ProductData {
  const isOutside = outside(region);
  if (answer.status < 200 || answer.status > 299) throw statusFault(answer, null, isOutside);
  const answered = URL.parse(answer.url);
  if (answered && isOutside(answered)) {
    throw new Fault(
      'page_region',
      `asked for region ${region}, was led to ${answered.host}${answered.pathname}`,
    );
  }
  const body = bodyText(answer);
  const json = parseJson(body);
  const page = json === undefined ? parseHtml(body) : undefined;
  const root = page ? embedded(page) : json;
  const route = isObject(root) ? routeData(root) : undefined;
  if (!route && page) throw withoutData(body, page);
  if (!route) throw new Fault('page_unreadable', 'the site sent JSON without product data');
  const others = new Map<string, JsonObject>();
  for (const component of componentsOf(route)) {
    if (isObject(component.component_data)) others.set(typeOf(component), component.component_data);
  }
  const global = object(object(object(route.page_config).global_data).product_info);
  const data = others.get('product_info') ?? global;
  const info = object(data.product_info);
  if ((number(data.error_code) ?? 0) !== 0 || Object.keys(info).length === 0)
    throw withoutProduct(route, data);
  others.delete('product_info');
  const categories = objects(data.categories).length > 0 ? data.categories : global.categories;
  const canonical = page && attribute(find(page.root, 'link[rel="canonical"]'), 'href');
  const addresses = [canonical, text(object(route.route_info).request_url), answer.url].filter(isText);
  return { data: { ...data, ...(categories === undefined ? {} : { categories }) }, info, others, addresses };
}
