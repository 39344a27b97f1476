import { isObject, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { integer, text } from '../fields.ts';
import {
  checkInterface,
  errorMessage,
  isNotFoundMessage,
  parseJsonResponse,
} from '../responses/response.ts';

/** The site's envelope, with data. */
export interface Envelope {
  code: number | null;
  status: string | null;
  message: string | null;
  data: JsonObject;
}

const good = /^(?:ok|success)$/i;

function codeFault(
  code: number | null,
  status: string | null,
  words: string,
  thing: string,
): Fault {
  const details = words === '' ? '' : `: ${words}`;
  if (code === 401) return new Fault('page_login', `the site requires a login${details}`);
  if (code === 403) return new Fault('page_blocked', `the site refused${details}`);
  if (code === 429) return new Fault('page_throttled', `too many requests${details}`);
  const missing =
    isNotFoundMessage(`${status ?? ''} ${words}`) || (code !== null && code >= 400 && code < 500);
  if (missing) return new Fault('page_not_found', `the site has no such ${thing}${details}`);
  return new Fault('page_failed', `the site returned an error${details}`);
}

/**
 * Parses the envelope `{code, status, data}` of a response; `thing` names the requested object in
 * messages. Throws the faults of checkInterface() and parseJsonResponse(); a fault by code and
 * status for an error; `page_not_found` for empty data; `page_unreadable` for anything that is not
 * an envelope.
 */
export function parseEnvelope(response: PageResponse, thing: string): Envelope {
  checkInterface(response, (body) => isObject(body) && 'code' in body);
  const root = parseJsonResponse(response);
  if (!isObject(root)) throw new Fault('page_unreadable', 'the response is JSON but not an object');
  const codeText = text(root.code);
  const code = integer(root.code);
  const status = text(root.status);
  const message = text(root.message);
  const own = errorMessage(root);
  const isGoodCode = codeText === null || code === 200 || good.test(codeText);
  const isGoodStatus = status === null || good.test(status);
  if (!isGoodCode || !isGoodStatus) {
    const words = [codeText, status, own].filter((part) => part !== null);
    throw codeFault(code, status, words.join(' '), thing);
  }
  const data = root.data;
  if (data === null || (isObject(data) && Object.keys(data).length === 0)) {
    const details = own === null ? '' : `: ${own}`;
    throw new Fault('page_not_found', `the site has no ${thing} to show${details}`);
  }
  if (!isObject(data)) throw new Fault('page_unreadable', `the response has no data of a ${thing}`);
  return { code, status, message, data };
}
