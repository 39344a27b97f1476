import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import type { SessionScope } from '../cookie-store.ts';
import type { BrowserProcess, PoolLimits } from './browser-process.ts';
import { BrowserContexts, type ContextEntry } from './contexts.ts';
import { driverReason } from './driver-error.ts';

/** A running browser and its contexts. */
interface RunningBrowser<Page> {
  browser: BrowserProcess<Page>;
  contexts: BrowserContexts<Page>;
  /** Pages opened so far. */
  pages: number;
  /** Pages open now. */
  active: number;
  /** Reason why it accepts no more pages. Null while it does. */
  retired: string | null;
  /** Aborted when the browser has ended. */
  monitor: AbortController;
  idle: AbortController | null;
  ended: Promise<unknown>;
}

function closedFault(): Fault {
  return new Fault('browser_failed', 'the browser was closed');
}

function failedFault(what: string, cause: unknown): Fault {
  if (cause instanceof Fault) return cause;
  return new Fault('browser_failed', `${what}: ${driverReason(cause)}`, { cause });
}

/**
 * Pool of pages of the browsers that `launch` starts: one at a time, with the first page and again
 * after a crash. Contexts are replaced by age and use, and the browser by use and memory; a
 * replacement starts once the previous browser has ended.
 */
export class BrowserPool<Page> {
  readonly #launch: () => Promise<BrowserProcess<Page>>;
  readonly #limits: PoolLimits;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limit;
  #running: RunningBrowser<Page> | null = null;
  #starting: Promise<RunningBrowser<Page>> | null = null;
  #isClosed = false;

  constructor(
    launch: () => Promise<BrowserProcess<Page>>,
    limits: PoolLimits,
    clock: Clock,
    log: Log,
  ) {
    this.#launch = launch;
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
    this.#limit = createConcurrencyLimit(limits.pages);
  }

  /** Number of open and waiting pages. */
  get load(): number {
    return this.#limit.inUse + this.#limit.waiting;
  }

  /** Starts the browser if it is not running. Rejects with the errors of the launch. */
  async start(): Promise<void> {
    await this.#current();
  }

  /**
   * Opens a page in the context of a session, runs the task, and closes the page. Rejects with the
   * errors of the task and of the launch, with `browser_failed`, or with the signal's reason if
   * aborted while it waits.
   */
  async use<Value>(
    scope: SessionScope,
    task: (page: Page) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const release = await this.#limit.acquire(signal);
    try {
      const running = await this.#current();
      signal?.throwIfAborted();
      const entry = this.#begin(running, scope);
      try {
        return await this.#runTask(running, entry, task);
      } finally {
        this.#finish(running, entry);
      }
    } finally {
      release();
    }
  }

  /** Closes the contexts of a market's region without saving their cookies. */
  drop(market: string, region: string): void {
    this.#running?.contexts.drop(market, region);
  }

  /** Closes the browser immediately. Running tasks fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#starting?.catch(() => {});
    if (this.#running) await this.#end(this.#running, 'closed');
  }

  async #runTask<Value>(
    running: RunningBrowser<Page>,
    entry: ContextEntry<Page>,
    task: (page: Page) => Promise<Value>,
  ): Promise<Value> {
    const open = await entry.context
      .then((context) => context.page())
      .catch(async (error: unknown) => {
        // A new browser is more likely to work, whatever the cause.
        await this.#end(running, 'opening a page failed');
        throw failedFault('the browser did not open a page', error);
      });
    try {
      return await task(open.page);
    } finally {
      await open.close().catch(() => this.#end(running, 'closing a page failed'));
    }
  }

  /**
   * Returns the browser that accepts pages. Starts one if needed, once the previous one has ended.
   */
  async #current(): Promise<RunningBrowser<Page>> {
    for (;;) {
      if (this.#isClosed) throw closedFault();
      if (this.#running?.retired === null) return this.#running;
      if (this.#running) await this.#running.ended;
      else {
        this.#starting ??= this.#start().finally(() => {
          this.#starting = null;
        });
        await this.#starting;
      }
    }
  }

  async #start(): Promise<RunningBrowser<Page>> {
    const browser = await this.#launch();
    if (this.#isClosed) {
      await browser.close();
      throw closedFault();
    }
    const running: RunningBrowser<Page> = {
      browser,
      contexts: new BrowserContexts(browser, this.#limits, this.#clock, this.#log),
      pages: 0,
      active: 0,
      retired: null,
      monitor: new AbortController(),
      idle: null,
      ended: browser.gone.then(() => this.#onEnded(running)),
    };
    this.#running = running;
    for (const monitor of [this.#monitorMemory(running), this.#monitorResponses(running)])
      monitor.catch((error: Error) => {
        if (!running.monitor.signal.aborted) this.#log.warn({ err: error }, 'browser check failed');
      });
    return running;
  }

  #onEnded(running: RunningBrowser<Page>): void {
    if (running.retired === null)
      this.#log.warn({ pages: running.pages }, 'browser ended unexpectedly');
    running.retired ??= 'gone';
    running.monitor.abort();
    running.contexts.recycleAll();
    if (this.#running === running) this.#running = null;
  }

  async #monitorMemory(running: RunningBrowser<Page>): Promise<void> {
    const { memoryBytes, memoryCheckMs } = this.#limits;
    const { signal } = running.monitor;
    while (!signal.aborted) {
      await this.#clock.sleep(memoryCheckMs, signal);
      const bytes = await running.browser.memory();
      if (bytes === null) return;
      const reason = `memory ${Math.round(bytes / 1024 ** 2)} MiB`;
      if (bytes > 2 * memoryBytes) return void (await this.#end(running, reason));
      // The open pages of a retired browser are still monitored, as they may use more memory.
      if (bytes > memoryBytes && running.retired === null) await this.#retire(running, reason);
    }
  }

  /** Ends a browser that hangs, whose pages are then retried. */
  async #monitorResponses(running: RunningBrowser<Page>): Promise<void> {
    const { signal } = running.monitor;
    while (!signal.aborted) {
      await this.#clock.sleep(this.#limits.memoryCheckMs, signal);
      try {
        await running.browser.ping();
      } catch {
        if (signal.aborted) return;
        running.browser.kill();
        return void (await this.#end(running, 'no response'));
      }
    }
  }

  /** Stops a browser from accepting pages, and ends it after its last page. */
  async #retire(running: RunningBrowser<Page>, reason: string): Promise<void> {
    this.#stopPages(running, reason);
    if (running.active > 0) return;
    await running.contexts.closeAll();
    await running.browser.close();
  }

  /** Ends a browser with its pages. */
  async #end(running: RunningBrowser<Page>, reason: string): Promise<void> {
    this.#stopPages(running, reason);
    await running.browser.close();
  }

  #stopPages(running: RunningBrowser<Page>, reason: string): void {
    if (running.retired === null)
      this.#log.info({ reason, pages: running.pages }, 'browser retired');
    running.retired ??= reason;
    running.idle?.abort();
  }

  #begin(running: RunningBrowser<Page>, scope: SessionScope): ContextEntry<Page> {
    const entry = running.contexts.acquire(scope);
    running.idle?.abort();
    running.idle = null;
    running.pages += 1;
    running.active += 1;
    return entry;
  }

  #finish(running: RunningBrowser<Page>, entry: ContextEntry<Page>): void {
    running.active -= 1;
    running.contexts.release(entry);
    if (running.retired !== null || running.pages >= this.#limits.browserPages) {
      void this.#retire(running, running.retired ?? `${running.pages} pages`);
    } else if (running.active === 0) {
      running.idle = new AbortController();
      this.#clock
        .sleep(this.#limits.idleMs, running.idle.signal)
        .then(() => this.#retire(running, 'idle'))
        .catch(() => {});
    }
  }
}
