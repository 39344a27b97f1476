import { Fault } from '../../base/fault.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { PageAnswer } from '../../fetch/page.ts';
import { retryAfterMs } from '../../fetch/retry-after.ts';

const robot = 90309999;
const withdrawnPath = 10005;
const notFound: readonly unknown[] = [266900002, 4];

/** Paths that a robot or a stranger is sent to. */
const checks = /\/verify\/|\/buyer\/login|\/traffic\/error/;

/** Words of pages that stand in the way of the answer. */
const challenge =
  /captcha|access denied|unusual traffic|robot|just a moment|\/verify\/|\/buyer\/login|\/traffic\/error/i;

function judgeStatus(answer: PageAnswer): void {
  const { status, headers } = answer;
  const wait = retryAfterMs(headers, answer.at);
  const details = wait === undefined ? {} : { retryAfterMs: wait };
  if (status === 429 || (status === 503 && wait !== undefined)) {
    throw new Fault('page_throttled', `the site answered ${status}: too many requests`, details);
  }
  if (status === 401 || status === 403)
    throw new Fault('page_blocked', `the site answered ${status}`, details);
  if (status >= 300 && status < 400) {
    const target = headers.location ?? '';
    if (checks.test(target)) throw new Fault('page_blocked', 'the site asks for a login or a check');
    throw new Fault('page_failed', `the site answered ${status} and points to another page`);
  }
  throw new Fault('page_failed', `the site answered ${status}`, details);
}

function parse(answer: PageAnswer): JsonObject {
  const text = answer.body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (answer.status === 200 && challenge.test(text.slice(0, 100_000))) {
      throw new Fault('page_blocked', 'the site sent a page with a check instead of data');
    }
    if (answer.status !== 200) judgeStatus(answer);
    const what = /^\s*</.test(text) ? 'a web page' : text.trim() === '' ? 'nothing' : 'broken JSON';
    throw new Fault('page_unreadable', `the site sent ${what} instead of data`);
  }
  if (isObject(value)) return value;
  if (answer.status !== 200) judgeStatus(answer);
  throw new Fault('page_unreadable', 'the answer is JSON but not an object');
}

function isRefusal(body: JsonObject): boolean {
  if (body.error === robot || body['3'] === robot) return true;
  return !('data' in body) && !('items' in body) && 'tracking_id' in body && 'action_type' in body;
}

/**
 * The answer's JSON once it is known to be an answer. Faults: `page_blocked` for a refusal in
 * either form, a redirect to a check or login, and a check page; `page_not_found` only where the
 * site says so by its number; `page_throttled` with the wait asked for; `page_failed` for any other
 * error of the site; `page_unreadable` for what is not JSON.
 */
export function judged(answer: PageAnswer): JsonObject {
  const body = parse(answer);
  if (isRefusal(body)) throw new Fault('page_blocked', 'the site refused the request as automated');
  if (notFound.includes(body.error))
    throw new Fault('page_not_found', 'the site knows no such page in this region');
  if (answer.status !== 200) judgeStatus(answer);
  if (body.error === withdrawnPath) {
    throw new Fault('page_failed', `the site has withdrawn this request (error ${withdrawnPath})`);
  }
  if (body.error !== undefined && body.error !== null && body.error !== 0) {
    const words =
      typeof body.error_msg === 'string' && body.error_msg !== '' ? `: ${body.error_msg.slice(0, 200)}` : '';
    throw new Fault('page_failed', `the site answered error ${String(body.error).slice(0, 40)}${words}`);
  }
  return body;
}
