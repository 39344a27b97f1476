import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { type SessionScope, scopeKey } from '../cookie-store.ts';
import type { BrowserProcess, PoolLimits, SessionContext } from './browser-process.ts';

/** An open browser context. */
export interface ContextEntry<Page> {
  scope: SessionScope;
  context: Promise<SessionContext<Page>>;
  openedAt: number;
  /** Pages opened so far. */
  pages: number;
  /** Pages open now. */
  active: number;
  /** True if it accepts no more pages. */
  isClosing: boolean;
  keepsCookies: boolean;
}

/** Contexts of a running browser, which are replaced by age and use. */
export class BrowserContexts<Page> {
  readonly #browser: BrowserProcess<Page>;
  readonly #limits: PoolLimits;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Entries that accept pages, by scope, in the order of use. */
  readonly #entries = new Map<string, ContextEntry<Page>>();
  /**
   * Contexts that are being closed, by scope: they save the cookies that the next one of the
   * session starts with.
   */
  readonly #closing = new Map<string, Promise<unknown>>();

  constructor(browser: BrowserProcess<Page>, limits: PoolLimits, clock: Clock, log: Log) {
    this.#browser = browser;
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
  }

  /** Returns the context of a session for one more page, and opens it if needed. */
  acquire(scope: SessionScope): ContextEntry<Page> {
    const key = scopeKey(scope);
    const existing = this.#entries.get(key);
    if (existing && this.#clock.steady() - existing.openedAt >= this.#limits.contextMs)
      this.#recycle(existing);
    const entry = this.#entries.get(key) ?? this.#open(scope);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.pages += 1;
    entry.active += 1;
    return entry;
  }

  /** Releases a context after its page has been closed. */
  release(entry: ContextEntry<Page>): void {
    entry.active -= 1;
    if (entry.isClosing && entry.active === 0) this.#close(entry);
    else if (entry.pages >= this.#limits.contextPages) this.#recycle(entry);
  }

  /** Closes the contexts of a market's region without saving their cookies. */
  drop(market: string, region: string): void {
    for (const entry of [...this.#entries.values()]) {
      if (entry.scope.market !== market || entry.scope.region !== region) continue;
      entry.keepsCookies = false;
      this.#recycle(entry);
    }
  }

  /** Closes all contexts, each after its last page. */
  recycleAll(): void {
    for (const entry of [...this.#entries.values()]) this.#recycle(entry);
  }

  /** Closes all contexts, and waits until they are closed. None may have open pages. */
  async closeAll(): Promise<void> {
    this.recycleAll();
    await Promise.all(this.#closing.values());
  }

  #open(scope: SessionScope): ContextEntry<Page> {
    this.#evictIdle();
    const closing = this.#closing.get(scopeKey(scope));
    const context = closing
      ? closing.then(() => this.#browser.context(scope))
      : this.#browser.context(scope);
    // Each page that awaits the context handles the rejection.
    context.catch(() => {});
    const openedAt = this.#clock.steady();
    return {
      scope,
      context,
      openedAt,
      pages: 0,
      active: 0,
      isClosing: false,
      keepsCookies: true,
    };
  }

  /** Closes the least recently used idle context if the maximum is reached. */
  #evictIdle(): void {
    if (this.#entries.size < this.#limits.contexts) return;
    const idle = this.#entries.values().find(({ active }) => active === 0);
    if (idle) this.#recycle(idle);
  }

  /** Stops a context from accepting pages, and closes it after its last page. */
  #recycle(entry: ContextEntry<Page>): void {
    if (entry.isClosing) return;
    entry.isClosing = true;
    this.#entries.delete(scopeKey(entry.scope));
    if (entry.active === 0) this.#close(entry);
  }

  #close(entry: ContextEntry<Page>): void {
    const key = scopeKey(entry.scope);
    const close = async () => {
      const context = await entry.context.catch(() => null);
      await context
        ?.close(entry.keepsCookies)
        .catch((error: Error) =>
          this.#log.debug({ err: error }, 'closing a browser context failed'),
        );
    };
    const closed = Promise.all([this.#closing.get(key), close()]).finally(() => {
      if (this.#closing.get(key) === closed) this.#closing.delete(key);
    });
    this.#closing.set(key, closed);
  }
}
