import { isUtf8 } from 'node:buffer';
import { isObject, type Json } from '../../base/json.ts';
import { Fault, type FaultCode } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { parseRetryAfter } from '../../fetch/retry-after.ts';
import { brief, list, object, objects, text, texts } from '../fields.ts';
import { bodyText } from '../html/html.ts';
import { parseJsonText } from '../json/json-values.ts';
import { anyOf } from '../patterns.ts';
import { type RegionCheck, redirectFault } from './redirects.ts';
import { isCheckTitle, unexpectedPage } from './unexpected-page.ts';
import { isBusy } from './wall-page.ts';

const missing = anyOf(
  [
    'not[ _-]?found',
    "does(?:n't| not) exist",
    'no longer (?:available|exists)',
    'tidak (?:ditemukan|tersedia lagi)',
  ],
  { flags: 'i' },
);

/** Returns the text of a member, the messages in it, or any other content as JSON. */
function messageOf(member: Json | undefined): string | null {
  const message = text(member) ?? text(object(member).message);
  if (message !== null) return message;
  const messages = texts(objects(member).map((entry) => entry.message));
  if (messages.length > 0) return messages.join('; ');
  const isEmpty = isObject(member) ? Object.keys(member).length === 0 : list(member).length === 0;
  return isEmpty ? null : JSON.stringify(member);
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
    const words = messageOf(member);
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
 * Returns true for a response with the page: a status of 2xx, but not that of a part of a page or
 * of a difference to another page, which nobody requested.
 */
export const isSuccess = ({ status }: PageResponse): boolean =>
  status >= 200 && status <= 299 && status !== 206 && status !== 226;

/**
 * Returns the fault for the status of a missing page: `page_not_found`, but `page_blocked` for a
 * check page, and `page_failed` for a 404 of a site that asks for another attempt.
 */
function missingFault(
  { status, body }: PageResponse,
  words: string | null,
  { message, ...retry }: { message: string; retryAfterMs?: number },
): Fault {
  const title = words ?? titleOf(body.toString('utf8')) ?? '';
  if (isCheckTitle(title))
    return new Fault('page_blocked', `${message}: a robot check or refusal page`);
  const isTemporary = retry.retryAfterMs !== undefined || isBusy(title);
  if (status === 404 && isTemporary)
    return new Fault('page_failed', `${message}, and asks for another attempt`, retry);
  return new Fault('page_not_found', message);
}

/** Faults of statuses with one meaning, and what their messages say. */
const meanings: Readonly<Record<number, [FaultCode, string]>> = {
  401: ['page_login', 'a login is required'],
  429: ['page_throttled', 'too many requests'],
  451: ['page_region', 'not available in this country'],
  503: ['page_throttled', 'too many requests'],
};

/**
 * Returns the fault for a status other than those of isSuccess(): that of missingFault() for 404
 * and 410, `page_not_found` for another 4xx whose message says so, `page_throttled` with the
 * requested delay for 429 and 503, `page_login` for 401, `page_region` for 451, `page_blocked` for
 * a refusal, redirectFault() for a redirect, otherwise `page_failed`. `words` is the site's
 * message.
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
  const returned = `the site returned ${status}`;
  if (status === 404 || status === 410)
    return missingFault(response, words, { message: returned + message, ...details });
  const [code, meaning] = meanings[status] ?? [];
  if (code !== undefined) {
    const isWait = code === 'page_throttled' && wait !== undefined;
    const seconds = isWait ? `, retry after ${Math.ceil(wait / 1000)} s` : '';
    return new Fault(code, `${returned}: ${meaning}${seconds}${message}`, details);
  }
  // Two bot managers respond with 428 and 430.
  if ([403, 428, 430].includes(status)) {
    return new Fault(
      'page_blocked',
      `the site refused the request with ${status}${message}`,
      details,
    );
  }
  if (status >= 300 && status < 400) return redirectFault(response, isOtherRegion);
  const isMissing = status < 500 && isNotFoundMessage(words);
  return new Fault(isMissing ? 'page_not_found' : 'page_failed', returned + message, details);
}

/**
 * Throws `page_failed` for a 404 or 410 that is not the interface's own response, but one about its
 * path: it says nothing about the requested item. `isOwn` accepts bodies of the interface.
 */
export function checkInterface(response: PageResponse, isOwn: (body: Json) => boolean): void {
  const { status } = response;
  if (status !== 404 && status !== 410) return;
  const result = parseBody(jsonText(response));
  if ('value' in result && isOwn(result.value)) return;
  const fault = statusFault(response, null);
  if (fault.code !== 'page_not_found') throw fault;
  throw new Fault('page_failed', `the site returned ${status} for the path of its interface`);
}

/** Returns the text of a JSON response, without a byte order mark. */
export function jsonText(response: PageResponse): string {
  const decoded = isUtf8(response.body) ? response.body.toString('utf8') : bodyText(response);
  return decoded.replace(/^\uFEFF/, '').trim();
}

/**
 * Parses a JSON response. Throws the faults of statusFault() for the status, the faults of
 * unexpectedPage() for HTML or an empty body, `page_blocked` for a robot check in JSON,
 * `page_unreadable` for invalid JSON. Messages contain the status and the site's message.
 */
export function parseJsonResponse(response: PageResponse): Json {
  const body = jsonText(response);
  const result = parseBody(body);
  if (!isSuccess(response)) throw errorResponseFault(response, body, result);
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
  if (isCheck) return new Fault('page_blocked', `${fault.message}: a robot check`);
  return fault;
}

/** Returns the site's message in a body: the message of a JSON error, or the title of a page. */
function bodyMessage(body: string, result: ParsedBody): string | null {
  if ('value' in result) return errorMessage(result.value);
  return body.startsWith('<') ? titleOf(body) : null;
}

/** Maximum age of a page by its `Date`, in milliseconds; an older one is that of a wrong clock. */
const maxDateAge = 365 * 86_400_000;
/** Maximum difference of the site's clock, in milliseconds. */
const maxClockDifference = 60_000;

/**
 * Returns the time of the contents of a page, in milliseconds since the epoch: the time at which it
 * arrived or, if a cache of the site sent a copy, at which the cache got it. The site states it by
 * the age of the copy (`Age`), or by an earlier `Date` (RFC 9111, section 4.2.3).
 */
export function pageTime({ at, headers }: Pick<PageResponse, 'at' | 'headers'>): number {
  const age = /^\s*(\d{1,10})\s*(?:,|$)/.exec(headers.age ?? '')?.[1];
  const copiedAt = age === undefined ? at : Math.max(0, at - Number(age) * 1000);
  const sentAt = Date.parse(headers.date ?? '');
  const dateAge = at - sentAt;
  const isCopy = dateAge > maxClockDifference && dateAge <= maxDateAge;
  return isCopy ? Math.min(copiedAt, sentAt) : copiedAt;
}
