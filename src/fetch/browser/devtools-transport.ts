import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { isIP } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ConnectionTransport } from 'puppeteer-core';

/** Timeout for a connection, in milliseconds. */
const connectMs = 5_000;

/** Returns the URL with the address of its host: Chromium refuses names in the `Host` header. */
async function withAddress(url: URL): Promise<URL> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // A certificate is for the name.
  if (/^(?:https|wss):$/.test(url.protocol) || isIP(host) !== 0) return url;
  const { address, family } = await lookup(host);
  const resolved = new URL(url);
  resolved.hostname = family === 6 ? `[${address}]` : address;
  return resolved;
}

/** Returns the WebSocket address of a browser at a DevTools address. */
async function socketUrl(address: string): Promise<string> {
  const url = await withAddress(new URL(address));
  if (url.protocol === 'ws:' || url.protocol === 'wss:') return url.href;
  const get = url.protocol === 'https:' ? getHttps : getHttp;
  const signal = AbortSignal.timeout(connectMs);
  // A kept connection may be one that was cut.
  const request = get(new URL('/json/version', url), { agent: false, signal });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { webSocketDebuggerUrl } = (await json(response)) as { webSocketDebuggerUrl: string };
  const { pathname } = new URL(webSocketDebuggerUrl);
  const socket = new URL(pathname, url);
  socket.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return socket.href;
}

interface Command {
  method: string;
  params?: object;
  sessionId?: string;
}

/**
 * Changes the commands of the driver for a browser that others use, too: contexts end with the
 * connection, and pages of others do not wait for this connection.
 */
function forSharedBrowser(message: string): string {
  if (!/"Target\.(?:createBrowserContext|setAutoAttach)"/.test(message)) return message;
  const command = JSON.parse(message) as Command;
  const params = { ...command.params };
  if (command.method === 'Target.createBrowserContext')
    Object.assign(params, { disposeOnDetach: true });
  if (command.method === 'Target.setAutoAttach' && command.sessionId === undefined)
    Object.assign(params, { waitForDebuggerOnStart: false });
  return JSON.stringify({ ...command, params });
}

/** Connection to a browser. */
class DevToolsTransport implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly #socket: WebSocket;
  #isClosed = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      if (!this.#isClosed) this.onmessage?.(data as string);
    });
    socket.addEventListener('close', () => this.#end());
    socket.addEventListener('error', () => this.#end());
  }

  send(message: string): void {
    this.#socket.send(forSharedBrowser(message));
  }

  /** Closes the connection without waiting for the other side, which may not respond. */
  close(): void {
    this.#socket.close();
    this.#end();
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

/** Opens a connection to the browser at a DevTools address (http, https, ws, or wss). */
export async function openDevTools(address: string): Promise<ConnectionTransport> {
  const socket = new WebSocket(await socketUrl(address));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.addEventListener('open', () => resolve(), { once: true });
  socket.addEventListener('error', () => reject(new Error('it refused the connection')), {
    once: true,
  });
  const timer = setTimeout(() => reject(new Error('it does not respond')), connectMs);
  try {
    await promise;
  } catch (error) {
    socket.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return new DevToolsTransport(socket);
}
