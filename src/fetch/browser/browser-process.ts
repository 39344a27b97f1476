import type { SessionScope } from '../cookie-store.ts';

/** An open page of a browser. */
export interface OpenPage<Page> {
  page: Page;
  close(): Promise<void>;
}

/** A browser context: the cookies and the cache of one session. */
export interface SessionContext<Page> {
  page(): Promise<OpenPage<Page>>;
  /** Closes the context. `keepsCookies`: saves its cookies for the next context of the session. */
  close(keepsCookies: boolean): Promise<void>;
}

/** A running browser. */
export interface BrowserProcess<Page> {
  /** Opens a context for a session. */
  context(scope: SessionScope): Promise<SessionContext<Page>>;
  /** Returns the memory of its processes in bytes, or null if the system does not report it. */
  memory(): Promise<number | null>;
  /** Rejects if the browser does not respond in time. */
  ping(): Promise<unknown>;
  /** Ends all processes of the browser at once, also those that do not respond. */
  kill(): void;
  /** Resolves when the browser has ended for any reason. */
  readonly gone: Promise<unknown>;
  /** Ends all processes of the browser. Never rejects. */
  close(): Promise<void>;
}

export interface PoolLimits {
  /** Maximum concurrent pages. */
  pages: number;
  /** Maximum contexts. */
  contexts: number;
  /** Pages and milliseconds after which a context is closed. */
  contextPages: number;
  contextMs: number;
  /** Pages after which the browser is restarted. */
  browserPages: number;
  /**
   * Memory in bytes above which the browser is restarted once its pages are closed. Above twice the
   * value, it is restarted immediately.
   */
  memoryBytes: number;
  /** Interval between checks of the browser and its memory, in milliseconds. */
  memoryCheckMs: number;
  /** Time without pages after which the browser is closed, in milliseconds. */
  idleMs: number;
}
