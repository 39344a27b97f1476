import { once } from 'node:events';
import {
  type AddressInfo,
  connect as connectTo,
  createServer,
  isIP,
  type LookupFunction,
  type Socket,
} from 'node:net';
import { Fault } from '../../contract/fault.ts';
import { guardedLookup, isPublicAddress, type ResolveName } from '../address.ts';
import { networkFault } from '../network-fault.ts';
import { connectThroughProxy } from '../proxy.ts';
import { receiveTarget, socksReplies } from './socks-server.ts';

/** Rules for the connections of a browser's pages. */
export interface EgressRules {
  /** Scheme, host, and port that may have a private address. Null if there is none. */
  origin: string | null;
  /** True if pages may connect to any private address. */
  allowPrivate: boolean;
  /** Resolves host names; `dns.lookup` by default. */
  resolve?: ResolveName | undefined;
  /** URL of a proxy; connections are direct without one. */
  proxy?: string | undefined;
}

/** Proxy through which all connections of a browser context go. */
export interface Egress {
  /** URL for the browser: "socks5://127.0.0.1:40123". */
  readonly proxy: string;
  /**
   * Returns the last connection fault of a URL's host: `address_refused`, `network`, or
   * `page_timeout`. Undefined if the last connection succeeded or there was none.
   */
  faultOf(url: string): Fault | undefined;
  /** Closes all connections. */
  close(): Promise<void>;
}

const connectMs = 10_000;

/** Maximum hosts whose faults are remembered: a page may name any number of hosts. */
const maxFaults = 1_000;

/** Returns a key for the host and port of a URL. */
function targetKey(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const defaultPort = protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
  return `${hostname.replace(/^\[|\]$/g, '')} ${port === '' ? defaultPort : port}`;
}

async function connectDirectly(
  host: string,
  port: number,
  lookup: LookupFunction | undefined,
): Promise<Socket> {
  const socket = connectTo({ host, port, lookup });
  const timedOut = () => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }));
  socket.setTimeout(connectMs, timedOut);
  // A pending connection must not keep the process alive.
  socket.unref();
  await once(socket, 'connect');
  socket.ref();
  socket.setTimeout(0);
  socket.off('timeout', timedOut);
  return socket;
}

function join(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
}

/**
 * Opens the proxy of one browser context: a SOCKS 5 server on a free loopback port. It resolves
 * names itself and checks each address when the connection is made, so that no page, frame, script,
 * or redirect reaches anything but the public internet and the configured origin.
 */
export async function openEgress(rules: EgressRules): Promise<Egress> {
  const egress = new EgressServer(rules);
  return {
    proxy: await egress.listen(),
    faultOf: (url) => egress.faultOf(url),
    close: () => egress.close(),
  };
}

class EgressServer {
  readonly #rules: EgressRules;
  readonly #originKey: string | null;
  readonly #lookup: LookupFunction;
  readonly #faults = new Map<string, Fault>();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    this.#track(socket);
    socket.setTimeout(connectMs, () => socket.destroy());
    this.#serve(socket).catch(() => socket.destroy());
  });

  constructor(rules: EgressRules) {
    this.#rules = rules;
    this.#originKey = rules.origin === null ? null : targetKey(rules.origin);
    this.#lookup = guardedLookup(rules.resolve);
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `socks5://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  faultOf(url: string): Fault | undefined {
    return this.#faults.get(targetKey(url));
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #serve(socket: Socket): Promise<void> {
    const { host, port } = await receiveTarget(socket);
    socket.setTimeout(0);
    const key = `${host} ${port}`;
    try {
      const upstream = await this.#connect(host, port);
      this.#faults.delete(key);
      if (socket.destroyed) return void upstream.destroy();
      socket.write(socksReplies.connected);
      join(socket, upstream);
    } catch (error) {
      const fault = networkFault(error, host);
      if (this.#faults.size >= maxFaults) this.#faults.clear();
      this.#faults.set(key, fault);
      socket.end(
        fault.code === 'address_refused' ? socksReplies.refused : socksReplies.unreachable,
      );
    }
  }

  async #connect(host: string, port: number): Promise<Socket> {
    const { allowPrivate, proxy } = this.#rules;
    const isUnrestricted = allowPrivate || `${host} ${port}` === this.#originKey;
    if (!isUnrestricted && isIP(host) !== 0 && !isPublicAddress(host)) {
      throw new Fault('address_refused', `${host} is not an address of the public internet`);
    }
    const lookup = isUnrestricted ? undefined : this.#lookup;
    const socket = await (proxy === undefined
      ? connectDirectly(host, port, lookup)
      : connectThroughProxy(proxy, host, port, { connectMs, lookup }));
    this.#track(socket);
    return socket;
  }
}
