import type { CDPEvents, CDPSession, Protocol } from 'puppeteer-core';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../page.ts';
import { driverReason } from './driver-error.ts';
import { type ResponseHead, toResponseHead } from './head.ts';
import { intercept, type TakenResponse } from './interception.ts';
import { MainDocuments } from './main-documents.ts';
import { readResponseBody } from './page-body.ts';
import type { RenderLimits } from './page-load-limits.ts';
import type { PagePlan } from './page-plan.ts';
import { createRenderTimer, type RenderTimer } from './render-timer.ts';
import { createTraffic } from './traffic.ts';
import { WantedResponses } from './wanted-responses.ts';

/** Time in which an idle main thread responds, in milliseconds. */
const idleMs = 100;

const isFromCache = ({ fromDiskCache, fromPrefetchCache }: Protocol.Network.Response) =>
  fromDiskCache === true || fromPrefetchCache === true;

/** Options for observe(). */
export interface ObserveOptions {
  cdp: CDPSession;
  /** Id of the main frame. */
  mainFrame: string;
  plan: PagePlan;
  limits: RenderLimits;
  /** Converts a network error of the browser to a fault. */
  failureOf(errorText: string, url: string): Fault;
  clock: Clock;
  /** Called when a response came from the cache and the page is loaded again without it. */
  onCached(url: string): void;
}

/**
 * Observes a page and returns the wanted response as soon as it is complete, or the document once
 * it is rendered. The document also takes the place of a response that never arrived, since it
 * shows the cause.
 */
export function observe(options: ObserveOptions): PageObservation {
  const observer = new PageObservation(options);
  observer.start();
  return observer;
}

export class PageObservation {
  readonly #options: ObserveOptions;
  readonly #result = Promise.withResolvers<PageResponse>();
  readonly #traffic = createTraffic(() => performance.now());
  readonly #documents: MainDocuments;
  readonly #wanted = new WantedResponses();
  #isStopped = false;
  #isReloaded = false;
  /** Monotonic time at which the shown document was loaded. */
  #loadedAt = 0;
  /** Document that the reader found incomplete. */
  #unready: Buffer | null = null;
  readonly #timer: RenderTimer;

  constructor(options: ObserveOptions) {
    const { plan, limits, cdp, mainFrame } = options;
    this.#options = options;
    this.#documents = new MainDocuments({ cdp, mainFrame, maxBytes: limits.bytes });
    const { quietMs, settleMs, responseQuietMs, responseSettleMs } = limits;
    const waits =
      plan.take === 'document'
        ? { quietMs, settleMs }
        : { quietMs: responseQuietMs, settleMs: responseSettleMs };
    this.#timer = createRenderTimer({
      ...waits,
      isQuiet: () => this.#traffic.quiet,
      onQuiet: () => this.#handle(() => this.#settleIfIdle()),
      onSettled: () => this.#handle(() => this.#settle()),
    });
  }

  /** Resolves with the wanted response or document; rejects with the reason why there is none. */
  get page(): Promise<PageResponse> {
    return this.#result.promise;
  }

  start(): void {
    const { cdp, mainFrame, plan, limits } = this.#options;
    const { bytes } = limits;
    const onPaused = intercept(cdp, mainFrame, plan, bytes, {
      received: (response) => this.#receive(response),
      redirected: (head) => this.#resolveEmpty(head),
      tooLarge: () => this.#failTooLarge(`is larger than ${bytes} bytes`),
      forbidden: (fault) => this.fail(fault),
      blocked: (url) => {
        if (this.#leadsAway(url)) return;
        // The shown document remains, and no further load event is fired.
        this.#timer.setLoaded(this.#documents.shown !== null);
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
      this.#documents.show(frame.loaderId);
      this.#timer.setLoaded(false);
      this.#timer.startSettling();
    });
    this.#on('Page.domContentEventFired', () => {
      this.#loadedAt = performance.now();
      this.#timer.setLoaded(true);
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
    const message = `the browser lost the page: ${driverReason(reason)}`;
    this.#result.reject(new Fault('browser_failed', message, { cause: reason }));
  }

  /** Stops observing; later events are ignored. */
  stop(): void {
    this.#isStopped = true;
    this.#timer.stop();
  }

  #on<Name extends keyof CDPEvents & string>(
    name: Name,
    handle: (event: CDPEvents[Name]) => unknown,
  ): void {
    this.#options.cdp.on(name, (event: CDPEvents[Name]) => this.#handle(() => handle(event)));
  }

  async #handle(task: () => unknown): Promise<void> {
    try {
      if (!this.#isStopped) await task();
    } catch (error) {
      this.fail(error);
    }
  }

  #onRequest(event: CDPEvents['Network.requestWillBeSent']): void {
    const { requestId, request, frameId, loaderId } = event;
    // A worker's script belongs to no document, and the page does not learn of its end.
    const type = loaderId === '' ? 'Other' : (event.type ?? 'Other');
    const { requests } = this.#options.limits;
    if (request.url.startsWith('data:')) return;
    const { method, url, postData } = request;
    const isOwn = frameId === this.#options.mainFrame && type !== 'Document';
    const isWanted = isOwn && this.#options.plan.expects(url, method);
    if (isWanted) this.#wanted.begin(requestId);
    const counts = this.#traffic.begin({
      id: requestId,
      type,
      method,
      url,
      body: postData,
      isWanted,
    });
    if (counts) this.#timer.restartQuiet();
    if (this.#traffic.requests > requests)
      this.#failTooLarge(`makes more than ${requests} requests`);
  }

  async #onResponse(event: CDPEvents['Network.responseReceived']): Promise<void> {
    const { requestId, response, frameId, type } = event;
    const isDocument = type === 'Document' && frameId === this.#options.mainFrame;
    if (!isDocument && !this.#wanted.has(requestId)) return;
    if (isFromCache(response)) return this.#reload(requestId, response.url);
    const at = this.#options.clock.now();
    const head = {
      ...toResponseHead(response.status, Object.entries(response.headers), response.url),
      at,
    };
    if (isDocument) this.#documents.add(requestId, head, response);
    else this.#wanted.setHead(requestId, head);
  }

  /** Loads the page again without the cache, which has an earlier response. */
  async #reload(requestId: string, url: string): Promise<void> {
    const { cdp, onCached } = this.#options;
    if (this.#isReloaded)
      throw new Fault('browser_failed', `the browser returns a cached response of ${url}`);
    this.#isReloaded = true;
    this.#wanted.forget(requestId);
    onCached(url);
    await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
    await cdp.send('Page.reload');
  }

  #onData({ requestId, dataLength }: CDPEvents['Network.dataReceived']): void {
    const { bytes: maxBytes, pageBytes } = this.#options.limits;
    const bytes = this.#traffic.add(requestId, dataLength);
    const isLimited = this.#wanted.has(requestId) || this.#documents.has(requestId);
    if (isLimited && bytes > maxBytes) this.#failTooLarge(`is larger than ${maxBytes} bytes`);
    if (this.#traffic.bytes > pageBytes) this.#failTooLarge(`loads more than ${pageBytes} bytes`);
  }

  async #onFinished({ requestId }: CDPEvents['Network.loadingFinished']): Promise<void> {
    if (this.#traffic.end(requestId)) this.#timer.restartQuiet();
    this.#documents.complete(requestId);
    const head = this.#wanted.headOf(requestId);
    if (head === null) return;
    try {
      this.#receive({
        ...head,
        requestId,
        body: await readResponseBody(this.#options.cdp, requestId),
      });
    } catch {
      // The browser drops the responses of a page that has left.
      this.#wanted.fail(requestId, this.#options.failureOf('net::ERR_ABORTED', head.url));
    }
  }

  /** Takes a response to an expected request. Returns true if it is the result. */
  #receive({ requestId, ...response }: TakenResponse & { at?: number }): boolean {
    this.#traffic.add(requestId, response.body.length);
    this.#traffic.end(requestId);
    const page = { at: this.#options.clock.now(), ...response };
    const isResult = this.#wanted.receive(requestId, page);
    if (isResult) this.#result.resolve(page);
    return isResult;
  }

  #onFailed({ requestId, errorText }: CDPEvents['Network.loadingFailed']): void {
    if (this.#traffic.end(requestId)) this.#timer.restartQuiet();
    if (this.#wanted.has(requestId)) {
      const url = this.#wanted.headOf(requestId)?.url ?? this.#options.plan.url;
      this.#wanted.fail(requestId, this.#options.failureOf(errorText, url));
    }
    const failure = this.#documents.failureOf(requestId, errorText);
    if (failure === null) return;
    const head = this.#documents.headOf(requestId)!;
    if (failure === 'status_only') this.#resolveEmpty(head);
    else if (failure === 'network') this.fail(this.#options.failureOf(errorText, head.url));
    else this.fail(new Fault('page_unreadable', 'the site returned a download instead of a page'));
  }

  #failTooLarge(problem: string): void {
    this.fail(new Fault('page_too_large', `the page ${problem}`));
  }

  #resolveEmpty(head: ResponseHead): void {
    const { status, headers, url } = head;
    this.#result.resolve({
      status,
      headers,
      url,
      body: Buffer.alloc(0),
      at: this.#options.clock.now(),
    });
  }

  /**
   * Ends with a redirect if a script leads to another origin and the expected response is not on
   * its way.
   */
  #leadsAway(url: string): boolean {
    const { plan } = this.#options;
    const target = URL.parse(url);
    const isAway =
      target !== null && /^https?:$/.test(target.protocol) && target.origin !== plan.origin;
    if (!isAway || this.#traffic.awaitsWanted) return false;
    this.#resolveEmpty({
      status: 302,
      headers: { location: url },
      url: this.#documents.shown?.url ?? plan.url,
    });
    return true;
  }

  /**
   * Ends at the deadline with the shown document, whatever it is, or with the fault if it is
   * incomplete.
   */
  expire(fault: Fault): void {
    this.#handle(async () => {
      await this.#settle();
      this.fail(fault);
    });
  }

  /**
   * Ends with the document if its main thread is idle, too, and the reader expects no more of it,
   * or has waited for it long enough.
   */
  async #settleIfIdle(): Promise<void> {
    const { plan, limits, cdp } = this.#options;
    const startedAt = performance.now();
    await cdp.send('Runtime.evaluate', { expression: '0' });
    if (performance.now() - startedAt > idleMs) return this.#timer.restartQuiet();
    if (this.#endWithError()) return;
    const page = await this.#documents.read(this.#timer.isLoaded);
    const isLate = performance.now() - this.#loadedAt >= (plan.readyMs ?? limits.readyMs);
    if (isLate || this.#isReady(page)) this.#resolveShown(page);
    else this.#timer.restartQuiet();
  }

  /** Ends with the last error of the expected requests, if one failed. Returns true if so. */
  #endWithError(): boolean {
    const { error, fault } = this.#wanted;
    if (error !== null) this.#result.resolve(error);
    else if (fault !== null) this.fail(fault);
    return error !== null || fault !== null;
  }

  #resolveShown(page: PageResponse): void {
    this.#result.resolve(this.#isReady(page) ? page : { ...page, isPending: true });
  }

  /** Asks the reader at most once about the same bytes: it parses them. */
  #isReady(page: PageResponse): boolean {
    const { plan } = this.#options;
    if (plan.take === 'response') return true;
    if (this.#unready !== null && page.body.equals(this.#unready)) return false;
    const isReady = plan.isReady(page);
    if (!isReady) this.#unready = page.body;
    return isReady;
  }

  /**
   * Ends at a time limit with what is shown, unless it is incomplete or a wanted response is on its
   * way.
   */
  async #settle(): Promise<void> {
    if (this.#endWithError()) return;
    const { shown: document } = this.#documents;
    const isShown = document !== null && (this.#timer.isLoaded || document.isComplete);
    if (isShown && !this.#traffic.awaitsWanted)
      this.#resolveShown(await this.#documents.read(this.#timer.isLoaded));
  }
}
