import { isObject, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { parseRetryAfter } from '../../fetch/retry-after.ts';
import { integer, text } from '../fields.ts';
import { parseJsonText } from '../json/json-values.ts';
import { redirectFault } from '../responses/redirects.ts';
import { isSuccess, jsonText, statusFault } from '../responses/response.ts';
import { unexpectedPage } from '../responses/unexpected-page.ts';
import { regions } from './urls.ts';

const robot = 90309999;
const withdrawnPath = 10005;
const suffixes = Object.values(regions).map(({ suffix }) => suffix);
const notFound: readonly (number | null)[] = [266900002, 4];

/** Paths that robots are redirected to. Pages that only redirect there are refusals as well. */
const checks = /\/verify\/|\/traffic\/error/;

/** Suffixes of other countries' hosts. */
function isElsewhere(response: PageResponse): (target: URL) => boolean {
  const bare = (host: string) => host.replace(/^www\./, '');
  const requestedHost = bare(URL.parse(response.url)?.hostname ?? '');
  return ({ hostname }) =>
    bare(hostname) !== requestedHost && suffixes.some((suffix) => hostname.endsWith(suffix));
}

function statusFaultOf(response: PageResponse): Fault {
  const { status, headers } = response;
  const wait = parseRetryAfter(headers, response.at);
  const throttled = status === 429 || (status === 503 && wait !== undefined);
  if (throttled || [401, 403, 451].includes(status)) return statusFault(response, null);
  if (status >= 300 && status < 400) {
    if (checks.test(headers.location ?? ''))
      return new Fault('page_blocked', 'the site asks for a robot check');
    return redirectFault(response, isElsewhere(response));
  }
  // 404 is included because it is about the path. A missing item is reported by an error number.
  return new Fault('page_failed', `the site returned ${status}`);
}

function parse(response: PageResponse): JsonObject {
  const body = jsonText(response);
  let value: unknown;
  try {
    value = parseJsonText(body);
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    if (!isSuccess(response)) throw statusFaultOf(response);
    if (!body.startsWith('<') && body !== '')
      throw new Fault('page_unreadable', 'the site sent invalid JSON instead of data');
    if (checks.test(body.slice(0, 100_000))) {
      throw new Fault('page_blocked', 'the site sent a robot check page instead of data');
    }
    const fault = unexpectedPage(body, 'data');
    throw fault.code === 'page_not_found' ? new Fault('page_failed', fault.message) : fault;
  }
  if (isObject(value)) return value;
  if (!isSuccess(response)) throw statusFaultOf(response);
  throw new Fault('page_unreadable', 'the response is JSON but not an object');
}

function isRefusal(body: JsonObject): boolean {
  if (integer(body.error) === robot || integer(body['3']) === robot) return true;
  return !('data' in body) && !('items' in body) && 'tracking_id' in body && 'action_type' in body;
}

/**
 * Parses the JSON of a response. Throws `page_blocked` for a refusal, a redirect to a robot check,
 * or a check page; `page_login` and `page_region` for a login and another country's host;
 * `page_not_found` only for the site's error number; `page_throttled` with the requested delay;
 * `page_failed` for any other error of the site; the faults of unexpectedPage() for HTML or an
 * empty body; `page_unreadable` for invalid JSON.
 */
export function parseResponse(response: PageResponse): JsonObject {
  const body = parse(response);
  if (isRefusal(body)) throw new Fault('page_blocked', 'the site refused the request as automated');
  if (notFound.includes(integer(body.error)))
    throw new Fault('page_not_found', 'the site has no such page in this region');
  if (!isSuccess(response)) throw statusFaultOf(response);
  if (integer(body.error) === withdrawnPath) {
    throw new Fault('page_failed', `the site has withdrawn this request (error ${withdrawnPath})`);
  }
  if (![undefined, null, '', 0, '0'].some((none) => none === body.error)) {
    const message = text(body.error_msg);
    const words = message === null ? '' : `: ${message.slice(0, 200)}`;
    throw new Fault(
      'page_failed',
      `the site returned error ${JSON.stringify(body.error).slice(0, 40)}${words}`,
    );
  }
  return body;
}
