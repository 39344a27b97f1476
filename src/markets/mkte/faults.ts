import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { bodyText, byId, find, type HtmlPage, parseHtml, words } from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { containsNotFound } from '../responses/not-found-page.ts';
import { isSuccess, statusFault } from '../responses/response.ts';
import { unexpectedPage } from '../responses/unexpected-page.ts';
import { checkWhole } from '../responses/whole-page.ts';
import { regions } from './regions.ts';

const checkTitles =
  /robot check|bot check|captcha|access denied|just a moment|security check|^sorry! bot/i;
const checkMarks = /api-services-support@|awswaf\.com|aws-waf-token|id="challenge-container"/i;
/** Labels of the button of the "Continue shopping" page, by language. */
const continueWords = anyOf(
  [
    'continue shopping',
    'weiter shoppen',
    'mit dem einkauf(?:en)? fortzufahren',
    'continuer (?:les|vos|mes) achats',
    'continua(?:re)? (?:a fare |con gli |gli )?acquisti',
    'seguir comprando',
    'continuar comprando',
    'ショッピングを続ける',
    '買い物を続ける',
  ],
  { flags: 'i' },
);
const goneTitles = anyOf(
  [
    'page not found',
    'document not found',
    'seite (?:wurde )?nicht gefunden',
    'page (?:introuvable|non trouvée)',
    'pagina non trovata',
    'página no encontrada',
    'no se ha encontrado',
    'ページが見つかりません',
    '404',
  ],
  { flags: 'i' },
);
const sorryTitles = anyOf(
  [
    '^50\\d(?!\\d)',
    'something went wrong',
    'service unavailable',
    'tut uns leid',
    "une erreur (?:s'est produite|est survenue)",
    'si è verificato un (?:errore|problema)',
    'se ha producido un error',
    'ご迷惑をおかけして',
  ],
  { flags: 'i' },
);

/** Maximum length of a robot check or an apology page in characters; they stay below 20 kB. */
const shortPage = 60_000;

const hosts: readonly string[] = Object.values(regions).map(({ host }) => host);

/**
 * Returns true if an address belongs to one of the stores. A redirect from an origin to one leads
 * to another region.
 */
function isStore({ hostname }: URL): boolean {
  return hosts.includes(hostname) || hosts.includes(`www.${hostname}`);
}

function isCheck(html: string, page: HtmlPage, title: string): boolean {
  if (find(page.root, 'form[action*="validateCaptcha" i]') || byId(page, 'captchacharacters'))
    return true;
  if (checkTitles.test(title)) return true;
  if (html.length > shortPage || sorryTitles.test(title)) return false;
  return checkMarks.test(html) || continueWords.test(words(find(page.root, 'body')) ?? '');
}

/** Blocks of a product page in which an offer is bought. */
const buyBoxes: readonly string[] = [
  'buybox',
  'desktop_buybox',
  'desktop_qualifiedBuyBox',
  'mobile_buybox',
  'addToCart',
  'add-to-cart-button',
  'corePrice_feature_div',
  'corePriceDisplay_desktop_feature_div',
  'corePriceDisplay_mobile_feature_div',
  'outOfStock',
];

/**
 * Returns true for the page that the site shows if a part of it failed: the product's title and
 * reviews, but no offer.
 */
function isDegraded(page: HtmlPage): boolean {
  if (byId(page, 'dpSorryPage') === undefined) return false;
  return buyBoxes.every((id) => byId(page, id) === undefined);
}

/** Returns true for the page of a missing product. The apology page has its pictures, too. */
function isGone(page: HtmlPage, title: string): boolean {
  if (goneTitles.test(title) || containsNotFound(title)) return true;
  if (sorryTitles.test(title)) return false;
  return find(page.root, 'a[href*="dogsofamazon" i], img[alt*="dogs of" i]') !== undefined;
}

/** A response, its page, and the title of that. */
interface TitledPage {
  response: PageResponse;
  html: string;
  page: HtmlPage;
  title: string;
}

/** Throws `page_blocked` if the site refuses to show the requested content. */
function checkRefusal({ response, html, page, title }: TitledPage): void {
  if (response.headers['x-amzn-waf-action'] !== undefined) {
    throw new Fault(
      'page_blocked',
      'the firewall asks for a robot check instead of showing the page',
    );
  }
  const isMissing = [404, 410].includes(response.status) && isGone(page, title);
  if (!isMissing && isCheck(html, page, title)) {
    throw new Fault('page_blocked', 'the site asks for a robot check instead of showing the page');
  }
}

/** Returns the fault of a page with a successful status and without the requested content. */
function missingContent({ html, page, title }: TitledPage, what: string): Fault {
  if (find(page.root, 'form[name="signIn"]')) {
    return new Fault('page_login', 'the site asks for a sign-in instead of showing the page');
  }
  if (isGone(page, title))
    return new Fault('page_not_found', 'the site has no such page in this store');
  if (sorryTitles.test(title)) {
    return new Fault(
      'page_throttled',
      `the site sent its apology page "${title.slice(0, 100)}" instead`,
    );
  }
  return unexpectedPage(html, `the ${what}`);
}

/**
 * Parses the HTML of a response. `hasContent`: whether the page has the requested content; texts of
 * refusals count only if it does not. Throws `page_blocked` for a robot check or a "Continue
 * shopping" page with any status; by status, with `page_region` for a redirect to another store;
 * for status 200 `page_login` for a login, `page_failed` for a product whose offer could not be
 * shown, `page_throttled` for the apology page, `page_not_found` for the "dog page",
 * the faults of checkWhole(), otherwise those of unexpectedPage().
 */
export function parsePage(
  response: PageResponse,
  what: string,
  hasContent: (page: HtmlPage) => boolean,
): HtmlPage {
  const html = bodyText(response);
  const page = parseHtml(html);
  const title = words(find(page.root, 'title')) ?? '';
  const titledPage = { response, html, page, title };
  const isPage = isSuccess(response);
  if (isPage && isDegraded(page)) {
    throw new Fault(
      'page_failed',
      `the site sent the ${what} without its offer, after an error of its own`,
    );
  }
  const isComplete = isPage && hasContent(page);
  if (!isComplete) checkRefusal(titledPage);
  if (!isPage) throw statusFault(response, title === '' ? null : title.slice(0, 200), isStore);
  checkWhole(html, page, `the ${what}`);
  if (isComplete) return page;
  throw missingContent(titledPage, what);
}
