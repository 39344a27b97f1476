import { isUtf8 } from 'node:buffer';
import type { Json } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
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
import { errorMessage, isNotFoundMessage, isSuccess, statusFault } from '../responses/response.ts';
import { checkWhole } from '../responses/whole-page.ts';
import { baseOf, type StructuredData, structuredData } from '../structured-data/structured-data.ts';
import { declaredSites } from './declared-sites.ts';
import { hasHost, type SiteDeclaration } from './site-declaration.ts';

/** A parsed page of a declared site. */
export interface SitePage {
  html: HtmlPage;
  /** Address of the page, without a fragment. */
  url: string;
  /** Address of the `base` element, which relative addresses refer to. */
  base: string | null;
  site: SiteDeclaration;
  /** Structured data, by format. */
  data: readonly StructuredData[];
  /** True if some bytes could not be decoded. A text with such a character is no value. */
  isUndecoded: boolean;
  /** Embedded JSON by the name of its script. */
  states: Map<string, Json | undefined>;
}

/** A page with its source. */
export type OpenSitePage = SitePage & { text: string };

/** Returns true for a text with a character that could not be decoded. */
export const hasUndecoded = ({ isUndecoded }: SitePage, value: Json): boolean =>
  isUndecoded && typeof value === 'string' && value.includes('\ufffd');

/** Prepares a page for reading. */
export function openSitePage(
  html: HtmlPage,
  url: string,
  site: SiteDeclaration,
  isUndecoded = false,
): SitePage {
  return {
    html,
    url: url.split('#')[0]!,
    base: baseOf(html),
    site,
    data: structuredData(html),
    isUndecoded,
    states: new Map(),
  };
}

/** Maximum embedded states of a page. */
const maxStates = 100;

/**
 * Returns the JSON of a script: of the element with that id, or of an assignment to that name.
 * Without a name, the first JSON script of the page.
 */
export function embeddedState({ html, states }: SitePage, name = ''): Json | undefined {
  if (states.has(name)) return states.get(name);
  const element =
    name === '' ? find(html.root, 'script[type="application/json" i]') : byId(html, name);
  let state = element && parseJson(scriptText(element));
  if (state === undefined && name !== '')
    for (const script of findAll(html.root, 'script:not([src])')) {
      const source = scriptText(script);
      state = source.includes(name) ? jsonAfter(source, name, workOf(html.root)) : undefined;
      if (state !== undefined) break;
    }
  states.set(name, state);
  return state;
}

/** Returns the embedded JSON of a page by the names under which embeddedState() finds it. */
export function embeddedStates(page: SitePage): Map<string, Json> {
  const names = findAll(page.html.root, 'script:not([src])').flatMap((script) => {
    const id = attribute(script, 'id');
    if (/json/i.test(attribute(script, 'type') ?? '')) return id === null ? [] : [id];
    return [
      ...scriptText(script).matchAll(/(?<![\w$])([A-Za-z_$][\w$]{2,60})\s{0,20}=\s{0,20}[{[]/g),
    ].map(([, name]) => name!);
  });
  const states = [...new Set(names)]
    .slice(0, maxStates)
    .map((name) => [name, embeddedState(page, name)] as const);
  return new Map(states.filter((state): state is [string, Json] => state[1] !== undefined));
}

/** Returns the site of a unit. Throws `origin_missing` if its declaration was removed. */
export function siteOf(name: string, url?: URL): SiteDeclaration {
  const site = declaredSites.find(name, url);
  if (site !== undefined) return site;
  throw new Fault(
    'origin_missing',
    `the site ${name} is not declared: an operator must add it to GLEANER_SITES`,
  );
}

const jsonType = /^application\/(?:[\w.-]+\+)?json\b/i;

/** Returns the fault of a response with JSON instead of a page. */
function jsonFault(html: string): Fault {
  const message = errorMessage(parseJson(html));
  const details = message === null ? '' : `: ${message}`;
  const code = isNotFoundMessage(message) ? 'page_not_found' : 'page_unreadable';
  return new Fault(code, `the site sent JSON instead of a page${details}`);
}

/**
 * Parses a page of a site. Throws the faults of statusFault() and checkWhole(), `page_mismatch` for
 * a redirect to a host that the site does not have, and `page_unreadable` or `page_not_found` for
 * JSON.
 */
export function openPage(response: PageResponse, site: SiteDeclaration): OpenSitePage {
  if (!isSuccess(response)) throw statusFault(response, null);
  const url = URL.parse(response.url);
  if (url === null || !hasHost(site, url))
    throw new Fault(
      'page_mismatch',
      `${site.name} redirected to ${url?.host}, which is not one of its hosts`,
    );
  const html = bodyText(response);
  const isJson = jsonType.test(response.headers['content-type'] ?? '');
  if (isJson && html.trim() !== '') throw jsonFault(html);
  const isUndecoded = html.includes('\ufffd') && !isUtf8(response.body);
  const page = parseHtml(html);
  checkWhole(html, page, 'the page');
  return { ...openSitePage(page, url.href, site, isUndecoded), text: html };
}
