import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { untilAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import { type StartedBrowser, startBrowser } from './launch.ts';

/** Options for serveBrowser(). */
export interface ServeBrowserOptions {
  /** Path of the Chromium executable. */
  path: string;
  /** Address to listen on, and port; 0 takes a free one. */
  host: string;
  port: number;
  /**
   * Memory above which the browser is replaced once it has no page; above twice the value,
   * immediately.
   */
  memoryBytes: number;
  clock: Clock;
  log: Log;
}

/** A browser that others use over the network. */
export interface ServedBrowser {
  readonly port: number;
  /** Ends the browser. */
  close(): Promise<void>;
}

/**
 * Interval between checks of the browser and its memory, and before it is started again, in
 * milliseconds.
 */
const checkMs = 2_000;
const restartMs = 1_000;

/** Timeout for the browser to open its port, and interval between looks, in milliseconds. */
const portMs = 10_000;
const portCheckMs = 50;

/**
 * Runs a browser whose DevTools others reach over the network: Chromium itself listens on the local
 * host only. Starts it again when it ends, hangs, or uses too much memory. Rejects with
 * `browser_failed` if it does not start, or with the error of the port.
 */
export async function serveBrowser(options: ServeBrowserOptions): Promise<ServedBrowser> {
  const served = new BrowserServer(options);
  return served.start();
}

class BrowserServer {
  readonly #options: ServeBrowserOptions;
  readonly #stopping = new AbortController();
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #devToolsPort = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ServeBrowserOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#forward(socket));
  }

  async start(): Promise<ServedBrowser> {
    const { host, port } = this.#options;
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    try {
      this.#running = this.#run(await this.#launch());
    } catch (error) {
      this.#server.close();
      throw error;
    }
    return { port: (this.#server.address() as AddressInfo).port, close: () => this.#close() };
  }

  async #close(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#running;
  }

  #forward(socket: Socket): void {
    const upstream = connect(this.#devToolsPort, '127.0.0.1');
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }

  async #launch(): Promise<StartedBrowser> {
    const { path, log } = this.#options;
    const started = await startBrowser(path, ['--remote-debugging-port=0']);
    try {
      this.#devToolsPort = await this.#readPort(join(started.profile, 'DevToolsActivePort'));
    } catch (error) {
      await started.close();
      throw error;
    }
    log.info({ path }, 'browser started');
    return started;
  }

  /** Reads the port from the file to which the browser writes it. */
  async #readPort(file: string): Promise<number> {
    const { clock } = this.#options;
    const deadline = clock.steady() + portMs;
    for (;;) {
      const text = await readFile(file, 'utf8').catch(() => '');
      const port = Number(text.split('\n')[0]);
      if (port > 0) return port;
      if (clock.steady() > deadline)
        throw new Fault('browser_failed', 'the browser opened no port');
      await clock.sleep(portCheckMs, this.#stopping.signal);
    }
  }

  async #run(first: StartedBrowser): Promise<void> {
    const { log, clock } = this.#options;
    const { signal } = this.#stopping;
    let started: StartedBrowser | null = first;
    while (!signal.aborted) {
      if (started !== null) await this.#watch(started);
      if (signal.aborted) return;
      await clock.sleep(restartMs, signal).catch(() => {});
      if (signal.aborted) return;
      started = await this.#launch().catch((error: unknown) => {
        log.error({ error: Fault.from(error).message }, 'browser not started');
        return null;
      });
    }
    await started?.close();
  }

  /** Checks a browser until it has ended. */
  async #watch(started: StartedBrowser): Promise<void> {
    const { log, clock } = this.#options;
    const ended = new AbortController();
    const stop = () => ended.abort(new Error('ended'));
    const gone = started.gone.then(stop);
    void untilAborted(this.#stopping.signal).then(stop);
    while (!ended.signal.aborted) {
      await clock.sleep(checkMs, ended.signal).catch(() => {});
      const reason = ended.signal.aborted ? null : await this.#problemOf(started);
      if (reason === null) continue;
      log.warn({ reason }, 'browser replaced');
      started.kill();
      break;
    }
    if (this.#stopping.signal.aborted) await started.close();
    await gone;
  }

  /** Returns why a browser is to be replaced, or null. */
  async #problemOf({ browser, memory, ping }: StartedBrowser): Promise<string | null> {
    const { memoryBytes } = this.#options;
    try {
      await ping();
    } catch {
      return 'no response';
    }
    const bytes = (await memory()) ?? 0;
    const isIdle = browser.targets().every((target) => target.browserContext().id === undefined);
    if (bytes <= memoryBytes || (bytes <= 2 * memoryBytes && !isIdle)) return null;
    return `memory ${Math.round(bytes / 1024 ** 2)} MiB`;
  }
}
