import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { nameOf, type Visited } from '../sessions.ts';

/** A page of a running browser, until it is closed. */
export interface OpenPage<Page> {
  page: Page;
  close(): Promise<void>;
}

/** A visitor of one site: cookies and cache of its own. */
export interface Context<Page> {
  page(): Promise<OpenPage<Page>>;
  /** Ends it; its cookies are remembered where they still work. */
  close(works: boolean): Promise<void>;
}

/** A running browser. */
export interface Engine<Page> {
  /** Opens a visitor of a site. */
  context(visited: Visited): Promise<Context<Page>>;
  /** Bytes that its processes hold; null where the system does not tell. */
  memory(): Promise<number | null>;
  /** Resolves when it has ended, whatever ended it. */
  readonly gone: Promise<unknown>;
  /** Ends it and whatever belongs to it. Never rejects. */
  close(): Promise<void>;
}

/** What a pool may use. */
export interface PoolLimits {
  /** Pages open at once. */
  pages: number;
  /** Contexts kept at once. */
  contexts: number;
  /** Pages and milliseconds after which a context is recycled. */
  contextPages: number;
  contextMs: number;
  /** Pages after which the browser is restarted. */
  enginePages: number;
  /** Bytes above which the browser is restarted once its pages are done; above twice as many it is ended
   *  at once. */
  memoryBytes: number;
  memoryCheckMs: number;
  /** Milliseconds without a page after which the browser is ended. */
  idleMs: number;
}

/** Pages of a browser that is started when it is needed. */
export interface Pool<Page> {
  /** Opens a page in the context of this site, does the task with it, closes it. Rejects with what the
   *  task or the launch rejects with, with `browser_failed` when the browser failed, and with the
   *  signal's reason when aborted while it waits. */
  use<Value>(visited: Visited, task: (page: Page) => Promise<Value>, signal?: AbortSignal): Promise<Value>;
  /** Recycles the contexts of a market's region, whose cookies are not remembered. */
  drop(market: string, region: string): void;
  /** Ends the browser at once; tasks under way fail. */
  close(): Promise<void>;
}

interface Visitor<Page> {
  visited: Visited;
  context: Promise<Context<Page>>;
  openedAt: number;
  pages: number;
  active: number;
  /** Takes no further pages. */
  over: boolean;
  works: boolean;
}

interface Running<Page> {
  engine: Engine<Page>;
  visitors: Map<string, Visitor<Page>>;
  pages: number;
  active: number;
  /** Takes no further pages: why. */
  over: string | null;
  /** Aborted once it has ended. */
  watch: AbortController;
  idle: AbortController | null;
  ended: Promise<unknown>;
}

function shutDown(): Fault {
  return new Fault('browser_failed', 'the browser was closed');
}

function failed(what: string, cause: unknown): Fault {
  if (cause instanceof Fault) return cause;
  return new Fault('browser_failed', `${what}: ${(cause as Error).message}`, { cause });
}

/**
 * Makes a pool over browsers that `launch` starts: one at a time, started with the first page and again
 * after a crash. Contexts are recycled by age and use, so that a session holds for the pages of a job but
 * no page's leavings for ever; the browser is restarted by use and by memory, and never doubled meanwhile.
 */
export function createPool<Page>(
  launch: () => Promise<Engine<Page>>,
  limits: PoolLimits,
  clock: Clock,
  log: Log,
): Pool<Page> {
  const gate = createConcurrencyLimit(limits.pages);
  let running: Running<Page> | null = null;
  let starting: Promise<Running<Page>> | null = null;
  let closed = false;

  const shut = async (visitor: Visitor<Page>): Promise<void> => {
    const context = await visitor.context.catch(() => null);
    await context
      ?.close(visitor.works)
      .catch((error: Error) => log.debug({ err: error }, 'context not closed'));
  };

  /** Lets a context take no further pages, and ends it after its last one. */
  const recycle = (from: Running<Page>, visitor: Visitor<Page>): void => {
    if (visitor.over) return;
    visitor.over = true;
    from.visitors.delete(nameOf(visitor.visited));
    if (visitor.active === 0) void shut(visitor);
  };

  /** Lets a browser take no further pages, and ends it after its last one, or at once. */
  const retire = (which: Running<Page>, why: string, atOnce: boolean): Promise<unknown> => {
    if (which.over === null) log.info({ why, pages: which.pages }, 'browser retired');
    which.over ??= why;
    which.idle?.abort();
    const end = async () => {
      if (!atOnce) {
        const visitors = [...which.visitors.values()];
        which.visitors.clear();
        await Promise.all(visitors.map(shut));
      }
      await which.engine.close();
    };
    return atOnce || which.active === 0 ? end() : Promise.resolve();
  };

  const watchMemory = async (which: Running<Page>): Promise<void> => {
    const { signal } = which.watch;
    while (!signal.aborted) {
      await clock.sleep(limits.memoryCheckMs, signal);
      const bytes = await which.engine.memory();
      if (bytes === null) return;
      const why = `memory ${Math.round(bytes / 1024 ** 2)} MiB`;
      if (bytes > 2 * limits.memoryBytes) return void (await retire(which, why, true));
      // Its last pages are watched on: they may still grow.
      if (bytes > limits.memoryBytes && which.over === null) await retire(which, why, false);
    }
  };

  const start = async (): Promise<Running<Page>> => {
    const engine = await launch();
    if (closed) {
      await engine.close();
      throw shutDown();
    }
    const watch = new AbortController();
    const which: Running<Page> = {
      engine,
      visitors: new Map(),
      pages: 0,
      active: 0,
      over: null,
      watch,
      idle: null,
      ended: engine.gone.then(() => {
        if (which.over === null) log.warn({ pages: which.pages }, 'the browser ended by itself');
        which.over ??= 'gone';
        watch.abort();
        for (const visitor of [...which.visitors.values()]) recycle(which, visitor);
        if (running === which) running = null;
      }),
    };
    running = which;
    watchMemory(which).catch((error: Error) => {
      if (!watch.signal.aborted) log.warn({ err: error }, "the browser's memory is not watched");
    });
    return which;
  };

  /** The browser that takes pages: started when there is none, once the one before has ended. */
  const current = async (): Promise<Running<Page>> => {
    for (;;) {
      if (closed) throw shutDown();
      if (running?.over === null) return running;
      if (running) await running.ended;
      else {
        starting ??= start().finally(() => {
          starting = null;
        });
        await starting;
      }
    }
  };

  /** Makes room for one more context: the one that was not used for longest goes. */
  const makeRoom = (which: Running<Page>): void => {
    if (which.visitors.size < limits.contexts) return;
    const unused = which.visitors.values().find(({ active }) => active === 0);
    if (unused) recycle(which, unused);
  };

  const visitorOf = (which: Running<Page>, visited: Visited): Visitor<Page> => {
    const key = nameOf(visited);
    const known = which.visitors.get(key);
    if (known && clock.now() - known.openedAt >= limits.contextMs) recycle(which, known);
    let visitor = which.visitors.get(key);
    if (!visitor) {
      makeRoom(which);
      const context = which.engine.context(visited);
      // Whoever opens a page is told; nobody else needs to be.
      context.catch(() => {});
      visitor = { visited, context, openedAt: clock.now(), pages: 0, active: 0, over: false, works: true };
    }
    // In the order of use: the first is the one that was not used for longest.
    which.visitors.delete(key);
    which.visitors.set(key, visitor);
    return visitor;
  };

  const begin = (which: Running<Page>, visitor: Visitor<Page>): void => {
    which.idle?.abort();
    which.idle = null;
    which.pages += 1;
    which.active += 1;
    visitor.pages += 1;
    visitor.active += 1;
  };

  const finish = (which: Running<Page>, visitor: Visitor<Page>): void => {
    which.active -= 1;
    visitor.active -= 1;
    if (visitor.over && visitor.active === 0) void shut(visitor);
    else if (visitor.pages >= limits.contextPages) recycle(which, visitor);
    if (which.over !== null || which.pages >= limits.enginePages) {
      void retire(which, which.over ?? `${which.pages} pages`, false);
    } else if (which.active === 0) {
      which.idle = new AbortController();
      clock
        .sleep(limits.idleMs, which.idle.signal)
        .then(() => retire(which, 'idle', false))
        .catch(() => {});
    }
  };

  return {
    async use(visited, task, signal) {
      const leave = await gate.enter(signal);
      try {
        const which = await current();
        signal?.throwIfAborted();
        const visitor = visitorOf(which, visited);
        begin(which, visitor);
        try {
          const open = await visitor.context
            .then((context) => context.page())
            .catch(async (error: unknown) => {
              // Nothing can be opened: whatever ails it, a new one is better.
              await retire(which, 'no page could be opened', true);
              throw failed('the browser opened no page', error);
            });
          try {
            return await task(open.page);
          } finally {
            await open.close().catch(() => retire(which, 'a page could not be closed', true));
          }
        } finally {
          finish(which, visitor);
        }
      } finally {
        leave();
      }
    },
    drop(market, region) {
      if (!running) return;
      for (const visitor of [...running.visitors.values()]) {
        if (visitor.visited.market !== market || visitor.visited.region !== region) continue;
        visitor.works = false;
        recycle(running, visitor);
      }
    },
    async close() {
      closed = true;
      await starting?.catch(() => {});
      if (running) await retire(running, 'closed', true);
    },
  };
}
