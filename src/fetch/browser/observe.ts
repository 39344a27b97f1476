import type { CDPEvents, CDPSession } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import type { PageAnswer } from '../page.ts';
import { type Head, headOf } from './head.ts';
import { intercept } from './interception.ts';
import type { Opening } from './opening.ts';
import { rawBody, rendered } from './rendered.ts';
import { createTraffic } from './traffic.ts';

/** How large a page may be and when it counts as rendered. */
export interface PageLimits {
  /** Bytes of a document or a response. */
  bytes: number;
  /** Bytes of all that one page loads. */
  pageBytes: number;
  /** Requests that one page makes. */
  requests: number;
  /** Milliseconds without a request under way after which a loaded document counts as rendered. */
  quietMs: number;
  /** The same for a page that has not asked for what is wanted: it never will. */
  patienceMs: number;
  /** Milliseconds after which a loaded document counts as rendered though it is not quiet. */
  settleMs: number;
}

/** An answer without the time. */
export type Seen = Omit<PageAnswer, 'at'>;

/** A page under observation. */
export interface Observation {
  /** What the page was opened for, or why there is none. */
  readonly seen: Promise<Seen>;
  /** Ends it for a reason of ours. */
  fail(reason: unknown): void;
  /** Looks no more: whatever the page still does is nobody's business. */
  stop(): void;
}

interface Document extends Head {
  id: string;
  html: boolean;
}

const htmlTypes: readonly string[] = ['text/html', 'application/xhtml+xml'];

/** Statuses of answers without anything to show. */
const withoutBody: readonly number[] = [204, 205];

/**
 * Observes what a page does from its opening on, and takes the answer that is wanted as soon as it has
 * come, or the document once it is rendered. A document also stands for an answer that never came, since
 * it says why. `failureOf` names what went wrong with a request.
 */
export function observe(
  cdp: CDPSession,
  main: string,
  opening: Opening,
  limits: PageLimits,
  failureOf: (errorText: string, url: string) => Fault,
): Observation {
  const { promise: seen, resolve, reject } = Promise.withResolvers<Seen>();
  const traffic = createTraffic();
  /** Main documents that came, by request, and the one that is shown. */
  const documents = new Map<string, Document>();
  let shown: Document | null = null;
  /** Requests of the page for what is wanted, and their answers' heads. */
  const wanted = new Map<string, Head | null>();
  let failure: Fault | null = null;
  let loaded = false;
  let over = false;
  const timers: { quiet?: NodeJS.Timeout; settled?: NodeJS.Timeout } = {};

  const fail = (reason: unknown) => {
    if (over || reason instanceof Fault) return reject(reason);
    const message = `the browser lost the page: ${(reason as Error).message}`;
    reject(new Fault('browser_failed', message, { cause: reason }));
  };
  const tooLarge = (what: string) => fail(new Fault('page_too_large', `the page ${what}`));
  const on = listenTo(cdp, () => over, fail);
  const settle = () => {
    if (failure) fail(failure);
    else readShown(cdp, main, shown, limits.bytes).then(resolve, fail);
  };
  /** Begins to wait for quiet, anew with every request. */
  const touch = () => {
    clearTimeout(timers.quiet);
    const ms = opening.take === 'document' ? limits.quietMs : limits.patienceMs;
    if (loaded && traffic.quiet) timers.quiet = setTimeout(settle, ms);
  };

  const onRequest = intercept(cdp, main, opening, limits.bytes, {
    redirect: (head) => resolve({ ...head, body: Buffer.alloc(0) }),
    tooLarge: () => tooLarge(`is larger than ${limits.bytes} bytes`),
    forbidden: fail,
    stays: () => {
      // What is shown stays, and nobody says any more that it is loaded.
      loaded = shown !== null;
      touch();
    },
  });
  on('Fetch.requestPaused', onRequest);
  on('Network.requestWillBeSent', ({ requestId, request, frameId, type = 'Other' }) => {
    if (request.url.startsWith('data:')) return;
    traffic.begin(requestId, type);
    touch();
    if (traffic.requests > limits.requests) tooLarge(`makes more than ${limits.requests} requests`);
    if (frameId !== main || type === 'Document') return;
    if (opening.wants(request.url, request.method)) wanted.set(requestId, null);
  });
  on('Network.responseReceived', ({ requestId, response, frameId, type }) => {
    const head = headOf(response.status, Object.entries(response.headers), response.url);
    const html = htmlTypes.includes(response.mimeType);
    if (type === 'Document' && frameId === main) documents.set(requestId, { ...head, id: requestId, html });
    else if (wanted.has(requestId)) wanted.set(requestId, head);
  });
  on('Network.dataReceived', ({ requestId, dataLength }) => {
    const bytes = traffic.add(requestId, dataLength);
    const isOurs = wanted.has(requestId) || documents.has(requestId);
    if (isOurs && bytes > limits.bytes) tooLarge(`is larger than ${limits.bytes} bytes`);
    if (traffic.bytes > limits.pageBytes) tooLarge(`loads more than ${limits.pageBytes} bytes`);
  });
  on('Network.loadingFinished', async ({ requestId }) => {
    traffic.end(requestId);
    touch();
    const head = wanted.get(requestId);
    if (head) resolve({ ...head, body: await rawBody(cdp, requestId) });
  });
  on('Network.loadingFailed', ({ requestId, errorText }) => {
    traffic.end(requestId);
    touch();
    if (wanted.has(requestId)) {
      failure = failureOf(errorText, wanted.get(requestId)?.url ?? opening.url);
      wanted.delete(requestId);
    }
    const head = documents.get(requestId);
    const aborted = errorText === 'net::ERR_ABORTED';
    // A page may go on to another one, or stop loading: what is shown stays.
    if (!head || (shown && (aborted || shown.id !== requestId))) return;
    // An answer came, but nothing that a page could show.
    if (withoutBody.includes(head.status)) resolve({ ...head, body: Buffer.alloc(0) });
    else if (!aborted) fail(failureOf(errorText, head.url));
    else fail(new Fault('page_unreadable', 'the site offers a file instead of a page'));
  });
  on('Page.frameNavigated', ({ frame }) => {
    if (frame.id !== main) return;
    shown = documents.get(frame.loaderId) ?? shown;
    loaded = false;
  });
  on('Page.domContentEventFired', () => {
    loaded = true;
    clearTimeout(timers.settled);
    if (opening.take === 'document') timers.settled = setTimeout(settle, limits.settleMs);
    touch();
  });
  on('Page.javascriptDialogOpening', (event) => closeDialog(cdp, event));

  return {
    seen,
    fail,
    stop: () => {
      over = true;
      clearTimeout(timers.quiet);
      clearTimeout(timers.settled);
    },
  };
}

/** Returns a function that registers listeners. They are not called once `isOver`; their errors go to `fail`. */
function listenTo(cdp: CDPSession, isOver: () => boolean, fail: (reason: unknown) => void) {
  return <Name extends keyof CDPEvents & string>(name: Name, take: (event: CDPEvents[Name]) => unknown) => {
    cdp.on(name, async (event: CDPEvents[Name]) => {
      try {
        if (!isOver()) await take(event);
      } catch (error) {
        fail(error);
      }
    });
  };
}

/** Reads the document that the page shows. Fault `page_unreadable` if there is none. */
async function readShown(
  cdp: CDPSession,
  main: string,
  shown: Document | null,
  maxBytes: number,
): Promise<Seen> {
  if (!shown) throw new Fault('page_unreadable', 'the site showed no page');
  const { id, html, status, url, headers } = shown;
  if (!html) return { status, url, headers, body: await rawBody(cdp, id) };
  const body = await rendered(cdp, main, maxBytes);
  return { status, url, headers: { ...headers, 'content-type': 'text/html; charset=utf-8' }, body };
}

/** Accepts the dialog "Leave this page?" and dismisses all others. */
function closeDialog(cdp: CDPSession, { type }: CDPEvents['Page.javascriptDialogOpening']) {
  return cdp.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' });
}
