import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { SocksClient } from 'socks';
import { buildConnector } from 'undici';
import { Fault } from '../contract/fault.ts';

/** Options of a connection through a proxy. */
export interface ProxyConnectOptions {
  /** Timeout in milliseconds. */
  connectMs: number;
  /**
   * Resolves and checks names locally, so that the proxy only gets addresses; by default, the proxy
   * resolves them.
   */
  lookup?: LookupFunction | undefined;
}

/**
 * Connects to a host and port through a proxy of the origins file: `http:` and `https:` by CONNECT,
 * `socks5:`. Fails with `proxy_failed`, without the credentials, if the proxy cannot be reached or
 * refuses, and with the errors of `lookup`.
 */
export async function connectThroughProxy(
  proxy: string,
  hostname: string,
  port: number,
  { connectMs, lookup }: ProxyConnectOptions,
): Promise<Socket> {
  const url = new URL(proxy);
  const name = hostname.replace(/^\[|\]$/g, '');
  const host = lookup && isIP(name) === 0 ? await resolveAddress(name, lookup) : name;
  try {
    const connect = url.protocol === 'socks5:' ? connectBySocks : connectByHttp;
    return await connect(url, host, port, connectMs);
  } catch (error) {
    // The error of the SOCKS client contains the password, so it is not set as the cause.
    const label = `${url.protocol}//${url.hostname}:${portOf(url)}`;
    throw new Fault('proxy_failed', `the proxy ${label} failed: ${(error as Error).message}`);
  }
}

/**
 * Creates an undici connector that tunnels through a proxy, plain HTTP too, so that the proxy
 * connects to the checked address and cannot cache or rewrite requests. Secure connections are end
 * to end, with HTTP/2 if the site offers it.
 */
export function createProxyConnector(
  proxy: string,
  options: ProxyConnectOptions,
): buildConnector.connector {
  const secure = buildConnector({ timeout: options.connectMs, allowH2: true, preferH2: true });
  return (target, callback) => {
    const { protocol, hostname, port } = target;
    const number = Number(port) || (protocol === 'https:' ? 443 : 80);
    connectThroughProxy(proxy, hostname, number, options).then(
      (socket) => {
        if (protocol === 'https:') secure({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

const defaultPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'socks5:': 1080,
};

function portOf({ protocol, port }: URL): number {
  return port === '' ? defaultPorts[protocol]! : Number(port);
}

/** Resolves a name for a proxy. */
function resolveAddress(hostname: string, lookup: LookupFunction): Promise<string> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error) return reject(error);
      const all = addresses as { address: string; family: number }[];
      // Not every proxy supports IPv6.
      resolve((all.find(({ family }) => family === 4) ?? all[0]!).address);
    });
  });
}

function connectByHttp(url: URL, host: string, port: number, timeoutMs: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const bracketedHost = isIP(host) === 6 ? `[${host}]` : host;
  const target = `${bracketedHost}:${port}`;
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const request = (url.protocol === 'https:' ? https : http).request({
    method: 'CONNECT',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: portOf(url),
    path: target,
    headers: {
      host: target,
      ...(login === ':'
        ? {}
        : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    agent: false,
  });
  const timer = setTimeout(() => request.destroy(new Error('timed out')), timeoutMs);
  request.once('close', () => clearTimeout(timer));
  request.once('error', reject);
  request.once('connect', ({ statusCode = 0 }, socket, head) => {
    clearTimeout(timer);
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) socket.unshift(head);
      return resolve((socket as Socket).setNoDelay());
    }
    socket.destroy();
    reject(
      new Error(statusCode === 407 ? 'user name or password rejected' : `status ${statusCode}`),
    );
  });
  request.end();
  return promise;
}

async function connectBySocks(
  url: URL,
  host: string,
  port: number,
  timeoutMs: number,
): Promise<Socket> {
  const { socket } = await SocksClient.createConnection({
    command: 'connect',
    proxy: {
      type: 5,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: portOf(url),
      ...(url.username === ''
        ? {}
        : { userId: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }),
    },
    destination: { host, port },
    timeout: timeoutMs,
    set_tcp_nodelay: true,
  });
  return socket;
}
