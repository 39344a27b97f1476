import { isUtf8 } from 'node:buffer';
import { isObject, type Json } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { parseRetryAfter } from '../../fetch/retry-after.ts';
import { object, objects, text } from '../fields.ts';
import { bodyText } from '../html/html.ts';
import { parseJsonText } from '../json/json-values.ts';
import { anyOf } from '../patterns.ts';
import { isOtherCountry } from './country-host.ts';
import { unexpectedPage } from './unexpected-page.ts';

/** Patterns of redirect targets: logins, robot checks, and choices of country or language. */
const loginAddress = /(?:^|[./_-])(?:log-?in|sign-?in|accounts?\/auth|sso)(?=$|[./?])/i;
const checkAddress = /captcha|\/verify(?:$|[/?])|\/challenge|unusual|\/blocked|\/sorry\//i;
const chooserAddress =
  /(?:choose|select|change)[-_/]?(?:your[-_]?)?(?:country|region|location|language|locale|store)|(?:country|region|language|locale)[-_/]?(?:select\w*|chooser|picker|switch\w*)|global-gateway/i;

const missing = anyOf(
  [
    'not[ _-]?found',
    "does(?:n't| not) exist",
    'no longer (?:available|exists)',
    'tidak (?:ditemukan|tersedia lagi)',
  ],
  { flags: 'i' },
);

function brief(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** Value of a JSON body, or why it is not JSON. */
type ParsedBody = { value: Json } | { reason: string };

function parseBody(body: string): ParsedBody {
  try {
    return { value: parseJsonText(body) };
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    return { reason: brief(thrown instanceof Error ? thrown.message : String(thrown)) };
  }
}

/**
 * Returns the site's message for an error in a JSON response: its message, error or errors. Null if
 * there is none.
 */
export function errorMessage(value: Json | undefined): string | null {
  const root = object(Array.isArray(value) ? value[0] : value);
  for (const member of [
    root.message,
    root.error_description,
    root.error,
    root.errors,
    root.detail,
  ]) {
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

/** Returns true if a message of the site says that something does not exist. */
export function isNotFoundMessage(words: string | null): boolean {
  return words !== null && missing.test(words);
}

function titleOf(html: string): string | null {
  return text(brief(/<title[^<>]*>([^<]{1,500})/i.exec(html)?.[1] ?? ''));
}

/** Returns true if a JSON response is a bot manager's challenge or captcha. */
function isCheckJson(value: Json): boolean {
  if (!isObject(value)) return false;
  if ('sec-cp-challenge' in value || 'cpr_chlge' in value) return true;
  return typeof value.url === 'string' && value.url.includes('captcha-delivery.com');
}

/**
 * Returns true if a redirect target belongs to another region of the market than the requested one.
 */
export type RegionCheck = (target: URL) => boolean;

/**
 * Returns the fault for a redirect that is not followed: `page_login` for a login, `page_blocked`
 * for a robot check, `page_region` for a choice of countries, another country's host or a target
 * that `isOtherRegion` accepts, otherwise `page_failed`.
 */
export function redirectFault(
  response: PageResponse,
  isOtherRegion: RegionCheck = () => false,
): Fault {
  const { status, url, headers } = response;
  const target = URL.parse(headers.location ?? '', url);
  const hostAndPath = `${target?.host ?? ''}${target?.pathname ?? ''}`;
  const points = `the site returned ${status} and points to ${brief(headers.location ?? '') || 'no page'}`;
  if (target === null) return new Fault('page_failed', points);
  if (checkAddress.test(hostAndPath)) return new Fault('page_blocked', `${points}: a robot check`);
  if (loginAddress.test(hostAndPath)) return new Fault('page_login', `${points}: a login`);
  const requestedHost = URL.parse(url)?.hostname ?? '';
  const isElsewhere = isOtherRegion(target) || isOtherCountry(requestedHost, target.hostname);
  if (chooserAddress.test(hostAndPath) || isElsewhere) {
    return new Fault('page_region', `${points}: another region than the requested one`);
  }
  return new Fault('page_failed', points);
}

/**
 * Returns the fault for a status outside of 200–299: `page_not_found` for 404, 410 and a 4xx whose
 * message says so, `page_throttled` with the requested delay for 429 and 503, `page_login` for 401,
 * `page_region` for 451, `page_blocked` for a refusal, redirectFault() for a redirect, otherwise
 * `page_failed`. `words` is the site's message.
 */
export function statusFault(
  response: PageResponse,
  words: string | null,
  isOtherRegion?: RegionCheck,
): Fault {
  const { status } = response;
  const wait = parseRetryAfter(response.headers, response.at);
  const details = wait === undefined ? {} : { retryAfterMs: wait };
  const message = words === null ? '' : `: ${words}`;
  if (status === 404 || status === 410)
    return new Fault('page_not_found', `the site returned ${status}${message}`);
  if (status === 429 || status === 503) {
    const seconds = wait === undefined ? '' : `, retry after ${Math.ceil(wait / 1000)} s`;
    return new Fault(
      'page_throttled',
      `the site returned ${status}: too many requests${seconds}${message}`,
      details,
    );
  }
  if (status === 451) {
    return new Fault(
      'page_region',
      `the site returned 451: not available in this country${message}`,
    );
  }
  if (status === 401)
    return new Fault('page_login', `the site returned 401: a login is required${message}`);
  // Two bot managers respond with 428 and 430.
  if ([403, 428, 430].includes(status)) {
    return new Fault(
      'page_blocked',
      `the site refused the request with ${status}${message}`,
      details,
    );
  }
  if (status >= 300 && status < 400) return redirectFault(response, isOtherRegion);
  if (status < 500 && isNotFoundMessage(words)) {
    return new Fault('page_not_found', `the site returned ${status}${message}`);
  }
  return new Fault('page_failed', `the site returned ${status}${message}`, details);
}

/**
 * Parses a JSON response. Throws the faults of statusFault() for the status, the faults of
 * unexpectedPage() for HTML or an empty body, `page_blocked` for a robot check in JSON,
 * `page_unreadable` for invalid JSON. Messages contain the status and the site's message.
 */
export function parseJsonResponse(response: PageResponse): Json {
  const decoded = isUtf8(response.body) ? response.body.toString('utf8') : bodyText(response);
  const body = decoded.replace(/^\uFEFF/, '').trim();
  const result = parseBody(body);
  if (response.status < 200 || response.status > 299)
    throw errorResponseFault(response, body, result);
  if ('value' in result) {
    if (isCheckJson(result.value))
      throw new Fault('page_blocked', 'the site asks for a robot check instead of data');
    return result.value;
  }
  if (body.startsWith('<') || body === '') throw unexpectedPage(body, 'data');
  const contentType = brief(response.headers['content-type'] ?? 'no content type');
  const description = `${response.body.length} bytes of ${contentType}`;
  throw new Fault(
    'page_unreadable',
    `the site sent invalid JSON (${description}): ${result.reason}`,
  );
}

/** Returns the fault for a response whose status is not a success. */
function errorResponseFault(response: PageResponse, body: string, result: ParsedBody): Fault {
  // A 404 page can contain a captcha in a form, so the status takes precedence over the text.
  const fault = statusFault(response, bodyMessage(body, result));
  const isCheck = fault.code === 'page_failed' && 'value' in result && isCheckJson(result.value);
  return isCheck ? new Fault('page_blocked', `${fault.message}: a robot check`) : fault;
}

/** Returns the site's message in a body: the message of a JSON error, or the title of a page. */
function bodyMessage(body: string, result: ParsedBody): string | null {
  if ('value' in result) return errorMessage(result.value);
  return body.startsWith('<') ? titleOf(body) : null;
}
