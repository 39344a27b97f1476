import type { CDPEvents, CDPSession } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../page.ts';
import { type ResponseHead, toResponseHead } from './head.ts';
import { intercept } from './interception.ts';
import type { PagePlan } from './page-plan.ts';
import { createRenderTimer, type RenderTimer } from './render-timer.ts';
import { createTraffic } from './traffic.ts';

/** Timeout for serializing a document, in milliseconds. */
const serializeMs = 5_000;

function tooLarge(maxBytes: number): Fault {
  return new Fault('page_too_large', `the rendered page is larger than ${maxBytes} bytes`);
}

/**
 * Serializes the current document of a frame in UTF-8. It runs in an isolated world, which the page's scripts
 * cannot manipulate. Rejects with `page_too_large` or `page_unreadable`.
 */
async function serializeDocument(cdp: CDPSession, frameId: string, maxBytes: number): Promise<Buffer> {
  const { executionContextId } = await cdp.send('Page.createIsolatedWorld', { frameId });
  const expression = `(() => {
    const html = document.documentElement?.outerHTML ?? '';
    return html.length > ${maxBytes} ? null : (document.doctype ? '<!DOCTYPE html>' : '') + html;
  })()`;
  const { result } = await cdp.send('Runtime.evaluate', {
    contextId: executionContextId,
    expression,
    returnByValue: true,
    timeout: serializeMs,
  });
  if (result.subtype === 'null') throw tooLarge(maxBytes);
  if (typeof result.value !== 'string') throw new Fault('page_unreadable', 'the page has no document');
  const body = Buffer.from(result.value, 'utf8');
  if (body.length > maxBytes) throw tooLarge(maxBytes);
  return body;
}

/** Reads the decoded body of a response that the page received. The browser converts text to UTF-8. */
async function readResponseBody(cdp: CDPSession, requestId: string): Promise<Buffer> {
  const { body, base64Encoded } = await cdp.send('Network.getResponseBody', { requestId });
  return Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
}

/** Limits on a page, and when it counts as rendered. */
export interface RenderLimits {
  /** Maximum bytes of a document or a response. */
  bytes: number;
  /** Maximum bytes of everything that a page loads. */
  pageBytes: number;
  /** Maximum requests of a page. */
  requests: number;
  /** Time without requests in progress after which a loaded document counts as rendered, in milliseconds. */
  quietMs: number;
  /**
   * Like `quietMs`, for a page that has not sent the expected request, and is then assumed not to send it.
   */
  responseQuietMs: number;
  /** Time after which a loaded document counts as rendered regardless of its requests, in milliseconds. */
  settleMs: number;
}

/** A response without its time. */
export type LoadedPage = Omit<PageResponse, 'at'>;

interface Document extends ResponseHead {
  id: string;
  html: boolean;
}

const htmlTypes: readonly string[] = ['text/html', 'application/xhtml+xml'];

/** Statuses of responses without a body. */
const statusesWithoutBody: readonly number[] = [204, 205];

/** Options for observe(). */
export interface ObserveOptions {
  cdp: CDPSession;
  /** Id of the main frame. */
  mainFrame: string;
  plan: PagePlan;
  limits: RenderLimits;
  /** Converts a network error of the browser to a fault. */
  failureOf(errorText: string, url: string): Fault;
}

/**
 * Observes a page and returns the wanted response as soon as it is complete, or the document once it is
 * rendered. The document also takes the place of a response that never arrived, since it shows the cause.
 */
export function observe(options: ObserveOptions): PageObservation {
  const observer = new PageObservation(options);
  observer.start();
  return observer;
}

export class PageObservation {
  readonly #options: ObserveOptions;
  readonly #result = Promise.withResolvers<LoadedPage>();
  readonly #traffic = createTraffic();
  /** Responses to requests for the main document, by request id. */
  readonly #documents = new Map<string, Document>();
  #shown: Document | null = null;
  /** Heads of the responses to expected requests, by request id. */
  readonly #expected = new Map<string, ResponseHead | null>();
  #failure: Fault | null = null;
  #isStopped = false;
  readonly #timer: RenderTimer;

  constructor(options: ObserveOptions) {
    const { plan, limits } = options;
    this.#options = options;
    const waitsForDocument = plan.take === 'document';
    this.#timer = createRenderTimer({
      quietMs: waitsForDocument ? limits.quietMs : limits.responseQuietMs,
      settleMs: waitsForDocument ? limits.settleMs : null,
      isQuiet: () => this.#traffic.quiet,
      onRendered: () => this.#settle(),
    });
  }

  /** Resolves with the wanted response or document; rejects with the reason why there is none. */
  get page(): Promise<LoadedPage> {
    return this.#result.promise;
  }

  start(): void {
    const { cdp, mainFrame, plan, limits } = this.#options;
    const { bytes } = limits;
    const onPaused = intercept(cdp, mainFrame, plan, bytes, {
      redirected: (head) => this.#result.resolve({ ...head, body: Buffer.alloc(0) }),
      tooLarge: () => this.#failTooLarge(`is larger than ${bytes} bytes`),
      forbidden: (fault) => this.fail(fault),
      blocked: () => {
        // The shown document remains, and no further load event is fired.
        this.#timer.setLoaded(this.#shown !== null);
        this.#timer.restartQuiet();
      },
    });
    this.#on('Fetch.requestPaused', onPaused);
    this.#on('Network.requestWillBeSent', (event) => this.#onRequest(event));
    this.#on('Network.responseReceived', (event) => this.#onResponse(event));
    this.#on('Network.dataReceived', (event) => this.#onData(event));
    this.#on('Network.loadingFinished', (event) => this.#onFinished(event));
    this.#on('Network.loadingFailed', (event) => this.#onFailed(event));
    this.#on('Page.frameNavigated', ({ frame }) => {
      if (frame.id !== mainFrame) return;
      this.#shown = this.#documents.get(frame.loaderId) ?? this.#shown;
      this.#timer.setLoaded(false);
    });
    this.#on('Page.domContentEventFired', () => {
      this.#timer.setLoaded(true);
      this.#timer.startSettling();
      this.#timer.restartQuiet();
    });
    // Accepts only "Leave this page?".
    this.#on('Page.javascriptDialogOpening', ({ type }) =>
      cdp.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }),
    );
  }

  /** Ends the observation with an error. */
  fail(reason: unknown): void {
    if (this.#isStopped || reason instanceof Fault) {
      this.#result.reject(reason);
      return;
    }
    const message = `the browser lost the page: ${(reason as Error).message}`;
    this.#result.reject(new Fault('browser_failed', message, { cause: reason }));
  }

  /** Stops observing; later events are ignored. */
  stop(): void {
    this.#isStopped = true;
    this.#timer.stop();
  }

  #on<Name extends keyof CDPEvents & string>(name: Name, handle: (event: CDPEvents[Name]) => unknown): void {
    this.#options.cdp.on(name, async (event: CDPEvents[Name]) => {
      try {
        if (!this.#isStopped) await handle(event);
      } catch (error) {
        this.fail(error);
      }
    });
  }

  #onRequest(event: CDPEvents['Network.requestWillBeSent']): void {
    const { requestId, request, frameId, type = 'Other' } = event;
    const { requests } = this.#options.limits;
    if (request.url.startsWith('data:')) return;
    this.#traffic.begin(requestId, type);
    this.#timer.restartQuiet();
    if (this.#traffic.requests > requests) this.#failTooLarge(`makes more than ${requests} requests`);
    if (frameId !== this.#options.mainFrame || type === 'Document') return;
    if (this.#options.plan.expects(request.url, request.method)) this.#expected.set(requestId, null);
  }

  #onResponse({ requestId, response, frameId, type }: CDPEvents['Network.responseReceived']): void {
    const head = toResponseHead(response.status, Object.entries(response.headers), response.url);
    const html = htmlTypes.includes(response.mimeType);
    if (type === 'Document' && frameId === this.#options.mainFrame) {
      this.#documents.set(requestId, { ...head, id: requestId, html });
    } else if (this.#expected.has(requestId)) this.#expected.set(requestId, head);
  }

  #onData({ requestId, dataLength }: CDPEvents['Network.dataReceived']): void {
    const { bytes: maxBytes, pageBytes } = this.#options.limits;
    const bytes = this.#traffic.add(requestId, dataLength);
    const isLimited = this.#expected.has(requestId) || this.#documents.has(requestId);
    if (isLimited && bytes > maxBytes) this.#failTooLarge(`is larger than ${maxBytes} bytes`);
    if (this.#traffic.bytes > pageBytes) this.#failTooLarge(`loads more than ${pageBytes} bytes`);
  }

  async #onFinished({ requestId }: CDPEvents['Network.loadingFinished']): Promise<void> {
    this.#traffic.end(requestId);
    this.#timer.restartQuiet();
    const head = this.#expected.get(requestId);
    if (head) this.#result.resolve({ ...head, body: await readResponseBody(this.#options.cdp, requestId) });
  }

  #onFailed({ requestId, errorText }: CDPEvents['Network.loadingFailed']): void {
    this.#traffic.end(requestId);
    this.#timer.restartQuiet();
    if (this.#expected.has(requestId)) {
      this.#failure = this.#options.failureOf(
        errorText,
        this.#expected.get(requestId)?.url ?? this.#options.plan.url,
      );
      this.#expected.delete(requestId);
    }
    const head = this.#documents.get(requestId);
    const isAborted = errorText === 'net::ERR_ABORTED';
    // A page may navigate or stop loading; the shown document remains.
    if (!head || (this.#shown && (isAborted || this.#shown.id !== requestId))) return;
    if (statusesWithoutBody.includes(head.status)) this.#result.resolve({ ...head, body: Buffer.alloc(0) });
    else if (!isAborted) this.fail(this.#options.failureOf(errorText, head.url));
    else this.fail(new Fault('page_unreadable', 'the site returned a download instead of a page'));
  }

  #failTooLarge(problem: string): void {
    this.fail(new Fault('page_too_large', `the page ${problem}`));
  }

  #settle(): void {
    if (this.#failure) this.fail(this.#failure);
    else this.#readShown().then(this.#result.resolve, (error) => this.fail(error));
  }

  async #readShown(): Promise<LoadedPage> {
    if (!this.#shown) throw new Fault('page_unreadable', 'the site showed no page');
    const { id, html, status, url, headers } = this.#shown;
    if (!html) return { status, url, headers, body: await readResponseBody(this.#options.cdp, id) };
    const body = await serializeDocument(
      this.#options.cdp,
      this.#options.mainFrame,
      this.#options.limits.bytes,
    );
    return { status, url, headers: { ...headers, 'content-type': 'text/html; charset=utf-8' }, body };
  }
}
