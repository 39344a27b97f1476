import net, { isIP, type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';
import { buildConnector } from 'undici';
import { Fault } from '../contract/fault.ts';
import { receive } from './receive.ts';
import { type ProxyCredentials, socksConnect } from './socks.ts';

/** Where a proxy is, and how it is spoken to. */
export interface ProxyAddress {
  protocol: 'http:' | 'https:' | 'socks5:';
  host: string;
  port: number;
  credentials: ProxyCredentials | null;
  /** Without credentials, for logs and faults. */
  label: string;
}

const usualPorts = { 'http:': 80, 'https:': 443, 'socks5:': 1080 };

/** Reads the address of a proxy as the origins file has it. */
export function proxyAddress(text: string): ProxyAddress {
  const { protocol, hostname, port, username, password } = new URL(text);
  const host = hostname.replace(/^\[|\]$/g, '');
  const number = port === '' ? usualPorts[protocol as 'http:'] : Number(port);
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

/** What connections through a proxy are made with. */
export interface TunnelOptions {
  connectMs: number;
  /** Resolves and judges names here, so that the proxy is only told addresses; absent: the proxy resolves. */
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

async function httpConnect(socket: Socket, host: string, port: number, login: ProxyCredentials | null) {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (login) {
    const basic = Buffer.from(`${login.username}:${login.password}`).toString('base64');
    lines.push(`Proxy-Authorization: Basic ${basic}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const answer = await receive(socket, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    return end < 0 ? 0 : end + 4;
  });
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer.toString('latin1'))?.[1];
  if (status === undefined) throw new Error('it does not speak HTTP');
  if (status === '407') throw new Error('it does not accept the user name and password');
  if (!status.startsWith('2')) throw new Error(`it answered ${status}`);
}

/** The address that the proxy is to connect to. */
function addressOf(hostname: string, lookup: LookupFunction): Promise<string> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error) return reject(error);
      const all = addresses as { address: string; family: number }[];
      // Not every proxy has IPv6.
      resolve((all.find(({ family }) => family === 4) ?? all[0]!).address);
    });
  });
}

/**
 * Makes connections of undici's through a proxy: by CONNECT for plain HTTP too, so that what the proxy
 * connects to is what was judged here, and no proxy reads or changes what passes. Fault `proxy_failed`
 * for what goes wrong between us and the proxy, without its credentials.
 */
export function tunnelConnector(proxy: ProxyAddress, options: TunnelOptions): buildConnector.connector {
  const { connectMs, lookup } = options;
  const secure = buildConnector({ timeout: connectMs, allowH2: true, preferH2: true });
  const { label, protocol, credentials } = proxy;

  const tunnel = async (hostname: string, port: number): Promise<Socket> => {
    const name = hostname.replace(/^\[|\]$/g, '');
    const host = lookup && isIP(name) === 0 ? await addressOf(name, lookup) : name;
    let socket: Socket | undefined;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('it did not answer in time')), connectMs);
    const connecting = openSocket(proxy).then(async (opened) => {
      socket = opened;
      await (protocol === 'socks5:' ? socksConnect : httpConnect)(opened, host, port, credentials);
      return opened;
    });
    try {
      return await Promise.race([connecting, late.promise]);
    } catch (error) {
      connecting.then(
        (opened) => opened.destroy(),
        () => socket?.destroy(),
      );
      socket?.destroy();
      throw new Fault('proxy_failed', `the proxy ${label}: ${(error as Error).message}`, { cause: error });
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
