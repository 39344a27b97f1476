import net, { isIP, type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';
import { buildConnector } from 'undici';
import { Fault } from '../contract/fault.ts';
import { receiveMessage } from './receive.ts';
import { connectSocks, type ProxyCredentials } from './socks.ts';

/** Address and protocol of a proxy. */
export interface ProxyAddress {
  protocol: 'http:' | 'https:' | 'socks5:';
  host: string;
  port: number;
  credentials: ProxyCredentials | null;
  /** URL without credentials, for logs and faults. */
  label: string;
}

const defaultPorts = { 'http:': 80, 'https:': 443, 'socks5:': 1080 };

/** Parses the URL of a proxy in the origins file. */
export function parseProxyUrl(text: string): ProxyAddress {
  const { protocol, hostname, port, username, password } = new URL(text);
  const host = hostname.replace(/^\[|\]$/g, '');
  const number = port === '' ? defaultPorts[protocol as 'http:'] : Number(port);
  return {
    protocol: protocol as ProxyAddress['protocol'],
    host,
    port: number,
    credentials:
      username === ''
        ? null
        : { username: decodeURIComponent(username), password: decodeURIComponent(password) },
    label: `${protocol}//${hostname}:${number}`,
  };
}

/** Options for createTunnelConnector(). */
export interface TunnelOptions {
  /** Timeout of a connection, in milliseconds. */
  connectMs: number;
  /** Resolves and checks names locally, so that the proxy only gets addresses; by default, the proxy resolves them. */
  lookup?: LookupFunction;
}

function openSocket({ protocol, host, port }: ProxyAddress): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = protocol === 'https:' ? tls.connect({ host, port, ...name }) : net.connect({ host, port });
    socket.once('error', reject);
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      socket.off('error', reject);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

async function connectHttp(socket: Socket, host: string, port: number, login: ProxyCredentials | null) {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (login) {
    const basic = Buffer.from(`${login.username}:${login.password}`).toString('base64');
    lines.push(`Proxy-Authorization: Basic ${basic}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const response = await receiveMessage(socket, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    return end < 0 ? 0 : end + 4;
  });
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(response.toString('latin1'))?.[1];
  if (status === undefined) throw new Error('not an HTTP proxy');
  if (status === '407') throw new Error('user name or password rejected');
  if (!status.startsWith('2')) throw new Error(`status ${status}`);
}

/** Resolves the address for the proxy to connect to. */
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

/**
 * Creates an undici connector that tunnels through a proxy. It uses CONNECT for plain HTTP too, so that the proxy connects
 * to the checked address and cannot cache or rewrite requests. Connections fail with `proxy_failed`, without the
 * credentials, if the proxy cannot be reached or refuses.
 */
export function createTunnelConnector(proxy: ProxyAddress, options: TunnelOptions): buildConnector.connector {
  const { connectMs, lookup } = options;
  const secure = buildConnector({ timeout: connectMs, allowH2: true, preferH2: true });
  const { label, protocol, credentials } = proxy;

  const tunnel = async (hostname: string, port: number): Promise<Socket> => {
    const name = hostname.replace(/^\[|\]$/g, '');
    const host = lookup && isIP(name) === 0 ? await resolveAddress(name, lookup) : name;
    let socket: Socket | undefined;
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(new Error('timed out')), connectMs);
    const connecting = openSocket(proxy).then(async (opened) => {
      socket = opened;
      await (protocol === 'socks5:' ? connectSocks : connectHttp)(opened, host, port, credentials);
      return opened;
    });
    try {
      return await Promise.race([connecting, timeout.promise]);
    } catch (error) {
      connecting.then(
        (opened) => opened.destroy(),
        () => socket?.destroy(),
      );
      socket?.destroy();
      throw new Fault('proxy_failed', `the proxy ${label} failed: ${(error as Error).message}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  };

  return (target, callback) => {
    const { protocol: scheme, hostname, port } = target;
    const number = Number(port) || (scheme === 'https:' ? 443 : 80);
    tunnel(hostname, number).then(
      (socket) => {
        if (scheme === 'https:') secure({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}
