import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { integer, object, objects, text } from '../fields.ts';
import { anyOf } from '../patterns.ts';
import {
  checkInterface,
  errorMessage,
  isNotFoundMessage,
  parseJsonResponse,
} from '../responses/response.ts';

/** Base address of the site's own pages, products and shops. */
export const site = 'https://www.tokopedia.com';

/**
 * Returns true if an address is a product page of the site: its two path segments name a shop and a
 * product. Promoted links and pages of merged sites have other hosts.
 */
export function isSite(url: URL): boolean {
  return /^(?:www\.|m\.)?tokopedia\.com$/.test(url.hostname);
}

/** Builds a selection of fields with `__typename` at every level, as the site's own pages do. */
export function typed(selection: string): string {
  return selection.replaceAll('}', ' __typename }').replace(/\s+/g, ' ').trim();
}

/**
 * Builds the request of a GraphQL operation, sent in an array as the site's own pages do. `page` is
 * the path and query of a page that sends the same operation. Null if none is known.
 */
export function operation(
  operationName: string,
  query: string,
  variables: JsonObject,
  headers: Record<string, string>,
  page: string | null,
): PageRequest {
  return {
    ...(page === null ? {} : { page: { path: page, take: 'response' } }),
    method: 'POST',
    path: `/graphql/${operationName}`,
    headers: {
      accept: '*/*',
      'content-type': 'application/json',
      'accept-language': 'id-ID',
      origin: site,
      referer: `${site}/`,
      'x-device': 'desktop',
      'x-source': 'tokopedia-lite',
      'x-tkpd-lite-service': 'zeus',
      ...headers,
    },
    body: JSON.stringify([{ operationName, variables, query }]),
  };
}

export function joinPath(...parts: string[]): string {
  return parts.map((part) => `/${pathPart(part)}`).join('');
}

/** Location for prices and stock: the site's default, central Jakarta. */
export const deliveryLocation = { cityId: '176', districtId: '2274' } as const;

const refused = /forbidden|unauthori[sz]ed|denied|robot|captcha/i;
const throttled = /too many|rate.?limit|throttl|terlalu (?:banyak|sering)/i;
/** Internal errors of the site and errors of an outdated query, which are unrelated to the item. */
const trouble = anyOf(
  [
    'schema',
    'syntax',
    'cannot query',
    'variable',
    'time.?out',
    'deadline',
    'internal',
    'unavailable',
    'upstream',
    'connection',
    'server',
    'overload',
    'temporar',
    'try again',
    'coba lagi',
    'gangguan',
    'panic',
    'unexpected',
    '\\beof\\b',
    'circuit',
    'context',
  ],
  { flags: 'i' },
);

function errorFault(
  errors: Json[],
  thing: string,
  unknown: 'page_not_found' | 'page_failed',
): Fault {
  const words = errorMessage({ errors }) ?? 'no words';
  const codes = objects(errors).map(({ extensions }) => integer(object(extensions).code));
  const hasCode = (...expected: number[]) =>
    codes.some((code) => code !== null && expected.includes(code));
  if (hasCode(401)) return new Fault('page_login', `the site requires a login: ${words}`);
  if (hasCode(403) || refused.test(words))
    return new Fault('page_blocked', `the site refused: ${words}`);
  if (hasCode(429) || throttled.test(words))
    return new Fault('page_throttled', `too many requests: ${words}`);
  if (hasCode(404, 410) || isNotFoundMessage(words)) {
    return new Fault('page_not_found', `the site has no such ${thing}: ${words}`);
  }
  const ownTrouble =
    trouble.test(words) || codes.some((code) => code !== null && code >= 500 && code < 600);
  if (unknown === 'page_failed' || ownTrouble) {
    return new Fault('page_failed', `the site returned an error: ${words}`);
  }
  return new Fault('page_not_found', `the site has no ${thing} to show: ${words}`);
}

/** Returns the errors of a result: a list, or one text. */
function errorsOf(errors: Json | undefined): Json[] {
  if (Array.isArray(errors)) return errors;
  return errors !== undefined && text(errors) !== null ? [errors] : [];
}

/**
 * Returns the first object under one of the `roots` of a response's GraphQL data; the response is
 * one result or an array of results. `thing` names the requested object in messages. Throws the
 * faults of checkInterface() and parseJsonResponse(); GraphQL errors without data by their messages
 * and codes; `unknown` for an unknown error and for a null root without an error; `page_unreadable`
 * for a missing root.
 */
export function parseData(
  response: PageResponse,
  roots: readonly string[],
  thing: string,
  unknown: 'page_not_found' | 'page_failed',
): JsonObject {
  // The interface has one path for all products, and reports a missing one in its data.
  checkInterface(response, () => false);
  const value = parseJsonResponse(response);
  const results = Array.isArray(value) ? objects(value) : objects([value]);
  for (const { data } of results) {
    for (const root of roots) {
      const found = object(data)[root];
      if (isObject(found)) return found;
    }
  }
  const errors = results.flatMap((result) => errorsOf(result.errors));
  if (errors.length > 0) throw errorFault(errors, thing, unknown);
  if (results.some(({ data }) => roots.some((root) => object(data)[root] === null))) {
    throw new Fault(unknown, `the site has no ${thing} to show`);
  }
  const words = errorMessage(value);
  if (isNotFoundMessage(words))
    throw new Fault('page_not_found', `the site has no such ${thing}: ${words}`);
  const details = words === null ? '' : `: ${words}`;
  throw new Fault('page_unreadable', `the response has no ${roots.join(' or ')}${details}`);
}
