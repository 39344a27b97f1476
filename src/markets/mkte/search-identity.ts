import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { text } from '../fields.ts';
import { findAll, type HtmlPage, words } from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { saysNoResults } from '../responses/wall-page.ts';

/** Messages above and between results, by layout. */
const messages = '[cel_widget_id*="TOP_BANNER_MESSAGE"], [cel_widget_id*="MAIN-MESSAGING"]';

/** Links of a message that the store searched for a corrected keyword, by language. */
const correctedWords = anyOf(
  [
    'search instead for',
    'stattdessen (?:nach|suchen)',
    'rechercher plutôt',
    'buscar en su lugar',
    'cerca invece',
    '代わりに',
  ],
  { flags: 'i' },
);

const messagesOf = (page: HtmlPage): string[] =>
  findAll(page.root, messages).map((message) => words(message) ?? '');

/**
 * Returns true for a page that says that the search has no results. It then shows results for
 * another keyword, or for some of its words.
 */
export const isWithoutResults = (page: HtmlPage): boolean => messagesOf(page).some(saysNoResults);

/** Returns the number of a category in an address: "n:1101" of `rh`, or `node`. */
function categoryOf({ searchParams }: URL): string | null {
  const refinement = /(?:^|,)n:(\d+)/.exec(searchParams.get('rh') ?? '')?.[1];
  return refinement ?? searchParams.get('node');
}

/** Returns true if an address is that of the requested search or category. */
function isRequestedSearch(url: URL, requested: URL): boolean {
  const keyword = requested.searchParams.get('k');
  if (keyword === null) return categoryOf(url) === categoryOf(requested);
  return url.searchParams.get('k') === keyword && /(?:^|\/)s\/?$/.test(url.pathname);
}

/**
 * Checks that a page has the results of a search. Throws `page_mismatch` for one to which the store
 * redirected from another search, and for the results of a corrected keyword. `path`: the path and
 * query of the request.
 */
export function checkSearch(
  response: PageResponse,
  page: HtmlPage,
  input: JsonObject,
  path: string,
): void {
  const url = URL.parse(response.url);
  const requested = URL.parse(path, response.url);
  const keyword = text(input.keyword);
  if (url !== null && requested !== null && !isRequestedSearch(url, requested))
    throw new Fault(
      'page_mismatch',
      `requested a search for ${keyword}, was redirected to ${url.pathname}${url.search}`,
    );
  if (messagesOf(page).some((message) => correctedWords.test(message)))
    throw new Fault('page_mismatch', `the site shows results for another keyword than ${keyword}`);
}
