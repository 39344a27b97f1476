import type { CDPSession, Protocol } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import { type ResponseHead, toResponseHead } from './head.ts';
import { createNavigationRules, type NavigationRules } from './navigation-rules.ts';
import { isSameSite, type PagePlan } from './page-plan.ts';
import { canTakeBody, isWholeBody, returnBody, takeBody } from './wanted-body.ts';

type PausedEvent = Protocol.Fetch.RequestPausedEvent;

/**
 * Requests to intercept: documents, at the request and the response stage, requests of scripts,
 * which may be the wanted one, and types of resources that are blocked.
 */
export const patterns: Protocol.Fetch.RequestPattern[] = [
  { resourceType: 'Document', requestStage: 'Request' },
  { resourceType: 'Document', requestStage: 'Response' },
  { resourceType: 'XHR' },
  { resourceType: 'Fetch' },
  { resourceType: 'Image' },
  { resourceType: 'Media' },
  { resourceType: 'Font' },
];

/** A response that was intercepted before the page received it. */
export interface TakenResponse extends ResponseHead {
  /** Id of its request in the Network domain. */
  requestId: string;
  body: Buffer;
}

/** Callbacks for the results of an interception. */
export interface InterceptionEvents {
  /** A response to an expected request. Returns false if the page is to continue with it. */
  received(response: TakenResponse): boolean;
  /** The main document is a redirect that is not followed. */
  redirected(head: ResponseHead): void;
  /** The main document, according to its content-length, or a wanted response exceeds the limit. */
  tooLarge(): void;
  /** A navigation of the page to a URL was blocked. */
  blocked(url: string): void;
  /** The page navigates to a path that must not be loaded. */
  forbidden(fault: Fault): void;
}

/**
 * Decides what a page may load: main documents that the navigation rules allow and that are not too
 * large, and frames of the same site, but no images, media, or fonts. Returns the handler of paused
 * requests.
 */
export function intercept(
  cdp: CDPSession,
  mainFrame: string,
  plan: PagePlan,
  maxBytes: number,
  events: InterceptionEvents,
): (paused: PausedEvent) => Promise<unknown> {
  const rules = createNavigationRules(plan.origin, plan.take === 'response');
  const context = { cdp, plan, rules, maxBytes, events };
  return async (paused) => {
    const { resourceType, frameId } = paused;
    const isMainFrame = frameId === mainFrame;
    if (resourceType === 'XHR' || resourceType === 'Fetch')
      return decideScriptRequest(context, paused, isMainFrame);
    if (resourceType !== 'Document') return block(cdp, paused, 'BlockedByClient');
    if (isMainFrame) return decideMainDocument(context, paused);
    return decideFrame(context, paused);
  };
}

/** Options that decide on the requests of a page. */
interface InterceptionContext {
  cdp: CDPSession;
  plan: PagePlan;
  rules: NavigationRules;
  maxBytes: number;
  events: InterceptionEvents;
}

/** Decides on a script's request or its response. Takes expected responses. */
async function decideScriptRequest(
  { cdp, plan, maxBytes, events }: InterceptionContext,
  paused: PausedEvent,
  isMainFrame: boolean,
): Promise<unknown> {
  const { request, responseStatusCode } = paused;
  if (responseStatusCode !== undefined) return takeWanted(cdp, plan, paused, maxBytes, events);
  const isPausedAgain = isMainFrame && plan.expects(request.url, request.method);
  return allow(cdp, paused, { isUncached: isRevalidated(plan, request), isPausedAgain });
}

async function decideMainDocument(
  { cdp, plan, rules, maxBytes, events }: InterceptionContext,
  paused: PausedEvent,
): Promise<unknown> {
  const { responseStatusCode, responseErrorReason } = paused;
  if (responseStatusCode !== undefined)
    return decideResponse(cdp, rules, paused, responseStatusCode, maxBytes, events);
  if (responseErrorReason !== undefined) return allow(cdp, paused);
  return decideRequest(cdp, rules, plan, paused, events);
}

/** Allows frames of the same site, and those without an address on the web. */
async function decideFrame(
  { cdp, plan }: InterceptionContext,
  paused: PausedEvent,
): Promise<unknown> {
  const { url } = paused.request;
  const isAllowed = !/^https?:/.test(url) || isSameSite(url, plan.origin);
  if (isAllowed) return allow(cdp, paused);
  return block(cdp, paused, 'BlockedByClient');
}

/**
 * Returns true for the request of a script whose response is wanted and could come from the cache.
 * A header for another origin would need its permission.
 */
function isRevalidated(plan: PagePlan, { url, method }: Protocol.Network.Request): boolean {
  return method === 'GET' && plan.expects(url, method) && URL.parse(url)?.origin === plan.origin;
}

/** How to continue a request. */
interface AllowOptions {
  /** True if the browser's cache is not read without asking the site. */
  isUncached?: boolean;
  /** True to pause the response as well. */
  isPausedAgain?: boolean;
}

async function allow(
  cdp: CDPSession,
  { requestId, request, responseStatusCode, responseErrorReason }: PausedEvent,
  { isUncached = false, isPausedAgain = false }: AllowOptions = {},
): Promise<void> {
  const parameters: Protocol.Fetch.ContinueRequestRequest = { requestId };
  const isResponse = responseStatusCode !== undefined || responseErrorReason !== undefined;
  if (isPausedAgain && !isResponse) parameters.interceptResponse = true;
  if (isUncached && !isResponse) {
    const headers = Object.entries({ ...request.headers, 'Cache-Control': 'no-cache' });
    parameters.headers = headers.map(([name, value]) => ({ name, value }));
  }
  await cdp.send('Fetch.continueRequest', parameters).catch(ignoreCancelled);
}

async function block(
  cdp: CDPSession,
  { requestId }: PausedEvent,
  errorReason: Protocol.Network.ErrorReason,
): Promise<void> {
  await cdp.send('Fetch.failRequest', { requestId, errorReason }).catch(ignoreCancelled);
}

/**
 * Ignores the error for a request that the page has cancelled while it was paused. Rethrows any
 * other.
 */
function ignoreCancelled(error: Error): void {
  if (!error.message.includes('Invalid InterceptionId')) throw error;
}

/**
 * Takes the response to an expected request before the page receives it, which may not read it or
 * leave. Responses that cannot be taken, such as redirects, are left to the page.
 */
async function takeWanted(
  cdp: CDPSession,
  plan: PagePlan,
  paused: PausedEvent,
  maxBytes: number,
  events: InterceptionEvents,
): Promise<void> {
  const { request, networkId, responseStatusCode = 0, responseHeaders = [] } = paused;
  const isRedirect = responseStatusCode >= 300 && responseStatusCode <= 399;
  const isUncached = request.method !== 'GET' || isRevalidated(plan, request);
  if (networkId === undefined || isRedirect || !canTakeBody(paused, isUncached))
    return allow(cdp, paused);
  let body: Buffer | null;
  try {
    body = await takeBody(cdp, paused, maxBytes);
  } catch {
    // The page has usually cancelled the request.
    return block(cdp, paused, 'ConnectionClosed');
  }
  if (body === null) events.tooLarge();
  else if (!isWholeBody(paused, body)) await block(cdp, paused, 'ConnectionClosed');
  else {
    const entries = responseHeaders.map(({ name, value }) => [name, value] as const);
    const head = toResponseHead(responseStatusCode, entries, request.url);
    const isTaken = events.received({ ...head, requestId: networkId, body });
    if (!isTaken) await returnBody(cdp, paused, body).catch(ignoreCancelled);
  }
}

/** Decides on the request for a main document. */
async function decideRequest(
  cdp: CDPSession,
  rules: NavigationRules,
  plan: PagePlan,
  paused: PausedEvent,
  events: InterceptionEvents,
): Promise<unknown> {
  const isRedirect = paused.redirectedRequestId !== undefined;
  const { url } = paused.request;
  const isAllowed = rules.allows(url, isRedirect);
  try {
    if (isAllowed) plan.assertAllowed(url);
  } catch (fault) {
    events.forbidden(Fault.from(fault));
    return block(cdp, paused, 'Aborted');
  }
  if (isAllowed) return allow(cdp, paused, { isUncached: true });
  await block(cdp, paused, 'Aborted');
  events.blocked(url);
}

/** Decides on the response with a main document. */
async function decideResponse(
  cdp: CDPSession,
  rules: NavigationRules,
  paused: PausedEvent,
  status: number,
  maxBytes: number,
  events: InterceptionEvents,
): Promise<unknown> {
  const { request, responseHeaders = [] } = paused;
  const entries = responseHeaders.map(({ name, value }) => [name, value] as const);
  const head = toResponseHead(status, entries, request.url);
  const [, length] = entries.find(([name]) => name.toLowerCase() === 'content-length') ?? [];
  const redirect = rules.redirect(head);
  if (redirect === 'return') events.redirected(head);
  else if (redirect === null && Number(length) > maxBytes) events.tooLarge();
  else return allow(cdp, paused);
  return block(cdp, paused, 'Aborted');
}
