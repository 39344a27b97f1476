import { basePath } from './base-path.ts';
import { csrfHeader, testTokenItem } from './first-session.ts';

/** A call that was sent before the code of its page was loaded. */
interface FirstCall {
  url: string;
  body: string;
  csrfToken: string;
  response: Promise<Response>;
}

let firstCall: FirstCall | undefined;
/** False once the page sends calls itself. */
let isAwaited = true;

/**
 * Sends a call of the page at the address of the browser as soon as the session is known, before
 * the code of the page is loaded. `method` is the path of a unary call, such as
 * `gleaner.job.v1.JobService/GetJob`.
 */
export async function sendFirstCall(
  session: Promise<Response>,
  method: string,
  message: object,
): Promise<void> {
  const response = (await session).clone();
  // A tab that shows the test account has another token.
  if (response.status !== 200 || sessionStorage.getItem(testTokenItem) !== null) return;
  const { csrf_token: csrfToken } = await response.json();
  if (!isAwaited) return;
  const url = `${location.origin}${basePath}/${method}`;
  const body = JSON.stringify(message);
  const headers = { 'content-type': 'application/json', [csrfHeader]: csrfToken };
  firstCall = {
    url,
    body,
    csrfToken,
    response: fetch(url, { method: 'POST', headers, body }),
  };
}

/**
 * Sends the call of a transport. The first one of the page has the response to sendFirstCall() if
 * it is the same.
 */
export const fetchCall: typeof fetch = (input, init) => {
  const sent = isAwaited ? firstCall : undefined;
  isAwaited = false;
  const isSame =
    sent !== undefined &&
    input === sent.url &&
    new Headers(init?.headers).get(csrfHeader) === sent.csrfToken &&
    new TextDecoder().decode(init?.body as Uint8Array) === sent.body;
  return isSame ? sent.response : fetch(input, init);
};
