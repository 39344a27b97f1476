import { Fault } from '../base/fault.ts';
import { isObject, type Json } from '../base/json.ts';
import type { PageAnswer } from '../fetch/page.ts';
import { retryAfterMs } from '../fetch/retry-after.ts';
import { isOtherCountry } from './country-host.ts';
import { object, objects, text } from './fields.ts';
import { checkContainers } from './json-values.ts';
import { strangePage } from './strange-page.ts';

/** Paths and hosts that visitors are sent to instead of what they asked for. */
const loginAddress = /(?:^|[./_-])(?:log-?in|sign-?in|accounts?\/auth|sso)(?=$|[./?])/i;
const checkAddress = /captcha|\/verify(?:$|[/?])|\/challenge|unusual|\/blocked|\/sorry\//i;
const chooserAddress =
  /(?:choose|select|change)[-_/]?(?:your[-_]?)?(?:country|region|location|language|locale|store)|(?:country|region|language|locale)[-_/]?(?:select\w*|chooser|picker|switch\w*)|global-gateway/i;

const missing =
  /not[ _-]?found|does(?:n't| not) exist|no longer (?:available|exists)|tidak (?:ditemukan|tersedia lagi)/i;

function brief(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

function parsed(body: string): { value: Json } | { reason: string } {
  checkContainers(body);
  try {
    return { value: JSON.parse(body) as Json };
  } catch (thrown) {
    return { reason: brief(thrown instanceof Error ? thrown.message : String(thrown)) };
  }
}

/** The site's own words for an error in a JSON answer: its message, error or errors. Null without. */
export function errorWords(value: Json | undefined): string | null {
  const root = object(Array.isArray(value) ? value[0] : value);
  for (const member of [root.message, root.error_description, root.error, root.errors, root.detail]) {
    const words =
      text(member) ??
      text(object(member).message) ??
      text(
        objects(member)
          .map(({ message }) => text(message))
          .filter((message) => message !== null)
          .join('; '),
      ) ??
      (isObject(member) && Object.keys(member).length > 0 ? JSON.stringify(member) : null) ??
      (Array.isArray(member) && member.length > 0 ? JSON.stringify(member) : null);
    if (words !== null) return brief(words);
  }
  return null;
}

/** Tells whether words of the site say that something is not there. */
export function saysMissing(words: string | null): boolean {
  return words !== null && missing.test(words);
}

function titleOf(html: string): string | null {
  return text(brief(/<title[^>]*>([^<]{1,500})/i.exec(html)?.[1] ?? ''));
}

/** Bot managers that speak JSON: a challenge to solve, or where the captcha is. */
function isCheckJson(value: Json): boolean {
  if (!isObject(value)) return false;
  if ('sec-cp-challenge' in value || 'cpr_chlge' in value) return true;
  return typeof value.url === 'string' && value.url.includes('captcha-delivery.com');
}

/** Tells whether an address is one of a market's pages for another region than was asked for. */
export type Elsewhere = (target: URL) => boolean;

/**
 * The fault that a redirect stands for which was not to be followed: `page_login`, `page_blocked` and
 * `page_region` by where it leads (a login, a check; a choice of countries, another country's host, or what
 * `elsewhere` knows as another region), else `page_failed`.
 */
export function redirectFault(answer: PageAnswer, elsewhere: Elsewhere = () => false): Fault {
  const { status, url, headers } = answer;
  const target = URL.parse(headers.location ?? '', url);
  const place = `${target?.host ?? ''}${target?.pathname ?? ''}`;
  const points = `the site answered ${status} and points to ${brief(headers.location ?? '') || 'no page'}`;
  if (target === null) return new Fault('page_failed', points);
  if (checkAddress.test(place)) return new Fault('page_blocked', `${points}: a robot check`);
  if (loginAddress.test(place)) return new Fault('page_login', `${points}: a login`);
  const asked = URL.parse(url)?.hostname ?? '';
  if (chooserAddress.test(place) || elsewhere(target) || isOtherCountry(asked, target.hostname)) {
    return new Fault('page_region', `${points}: another region than was asked for`);
  }
  return new Fault('page_failed', points);
}

/**
 * The fault that an answer's status stands for, for any status outside 200–299: `page_not_found` for 404,
 * 410 and a 4xx whose words say so, `page_throttled` for 429 and 503 with the wait asked for, `page_login`
 * for 401, `page_blocked` for refusals, a redirect's by where it leads, else `page_failed`. `words`: what
 * the site said, for the message.
 */
export function statusFault(answer: PageAnswer, words: string | null, elsewhere?: Elsewhere): Fault {
  const { status } = answer;
  const wait = retryAfterMs(answer.headers, answer.at);
  const details = wait === undefined ? {} : { retryAfterMs: wait };
  const said = words === null ? '' : `: ${words}`;
  if (status === 404 || status === 410)
    return new Fault('page_not_found', `the site answered ${status}${said}`);
  if (status === 429 || status === 503) {
    const seconds = wait === undefined ? '' : `, and asks to wait ${Math.ceil(wait / 1000)} s`;
    return new Fault(
      'page_throttled',
      `the site answered ${status}: too many requests${seconds}${said}`,
      details,
    );
  }
  if (status === 401) return new Fault('page_login', `the site answered 401: it wants a login${said}`);
  // 428 and 430 are what two bot managers answer with.
  if ([403, 428, 430].includes(status)) {
    return new Fault('page_blocked', `the site refused the request with ${status}${said}`, details);
  }
  if (status >= 300 && status < 400) return redirectFault(answer, elsewhere);
  if (status < 500 && saysMissing(words)) {
    return new Fault('page_not_found', `the site answered ${status}${said}`);
  }
  return new Fault('page_failed', `the site answered ${status}${said}`, details);
}

/**
 * The JSON of an answer, for sites that answer in JSON. Faults: those of `statusFault` by status, of
 * `strangePage` for a web page or nothing, `page_blocked` for a check in JSON, and `page_unreadable` for
 * what is no JSON. Messages carry the status and the site's own words.
 */
export function jsonOf(answer: PageAnswer): Json {
  const body = answer.body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  const result = parsed(body);
  const html = body.startsWith('<');
  const words = 'value' in result ? errorWords(result.value) : html ? titleOf(body) : null;
  if (answer.status < 200 || answer.status > 299) {
    // A shop's own 404 page may hold a captcha for its forms: the status counts before the words.
    throw statusFault(answer, words);
  }
  if ('value' in result) {
    if (isCheckJson(result.value))
      throw new Fault('page_blocked', 'the site asks for a robot check instead of data');
    return result.value;
  }
  if (html || body === '') throw strangePage(body, 'data');
  const place = `${answer.body.length} bytes of ${brief(answer.headers['content-type'] ?? 'no content type')}`;
  throw new Fault('page_unreadable', `the site sent broken JSON (${place}): ${result.reason}`);
}
