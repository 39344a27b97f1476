import { once } from 'node:events';
import { type AddressInfo, connect, createServer, isIP, type LookupFunction, type Socket } from 'node:net';
import { Fault } from '../../contract/fault.ts';
import { guardedLookup, isPublicAddress, type ResolveName } from '../address.ts';
import { networkFault } from '../network-fault.ts';
import { receive } from '../receive.ts';

/** Where the connections of a browser's pages may go. */
export interface EgressRules {
  /** Scheme, host and port that is read: reachable wherever it is; null: nothing is. */
  origin: string | null;
  /** Pages may reach private addresses beside it. */
  allowPrivate: boolean;
  /** Resolves names; `dns.lookup` when absent. */
  resolve?: ResolveName | undefined;
  /** Makes the connections; straight ones when absent. */
  connect?: Connect | undefined;
}

/** Makes a connection. With a lookup, names are resolved and judged by it and by nobody else. */
export type Connect = (host: string, port: number, lookup: LookupFunction | undefined) => Promise<Socket>;

/** The only way out for the pages of one browser context. */
export interface Egress {
  /** Address for the browser: "socks5://127.0.0.1:40123". */
  readonly proxy: string;
  /** Why the host of an address could not be reached the last time: `address_refused`, `network`,
   *  `page_timeout`; undefined when it could or was never tried. */
  faultOf(url: string): Fault | undefined;
  /** Ends every connection. */
  close(): Promise<void>;
}

const version = 5;
const noAuthentication = 0;
const connectCommand = 1;
const connectMs = 10_000;

/** Hosts remembered at once: a page may name as many as it likes. */
const mostFaults = 1_000;

/** Answers of SOCKS 5: the address that follows the code is not looked at. */
const reply = (code: number) => Buffer.from([version, code, 0, 1, 0, 0, 0, 0, 0, 0]);
const connected = 0;
const refused = 2;
const unreachable = 4;

/** How long a greeting is; 0 while it is incomplete. What is none is complete at once. */
function greetingLength(bytes: Buffer): number {
  if (bytes.length < 2) return 0;
  if (bytes[0] !== version) return bytes.length;
  return bytes.length < 2 + bytes[1]! ? 0 : 2 + bytes[1]!;
}

/** How long a request is, as greetingLength. */
function requestLength(bytes: Buffer): number {
  if (bytes.length < 5) return 0;
  const sizes: Record<number, number> = { 1: 4, 3: 1 + bytes[4]!, 4: 16 };
  const size = sizes[bytes[3]!];
  if (bytes[0] !== version || bytes[1] !== connectCommand || size === undefined) return bytes.length;
  return bytes.length < 6 + size ? 0 : 6 + size;
}

function sixteen(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':');
}

/** Where the browser wants to be connected with. Rejects for anything but a SOCKS 5 connection. */
async function wanted(socket: Socket): Promise<{ host: string; port: number }> {
  const greeting = await receive(socket, greetingLength);
  if (greeting[0] !== version || !greeting.subarray(2).includes(noAuthentication)) {
    throw new Error('not a SOCKS 5 greeting');
  }
  socket.write(Buffer.from([version, noAuthentication]));
  const request = await receive(socket, requestLength);
  const [spoken, command, , sort] = request;
  if (spoken !== version || command !== connectCommand) throw new Error('not a SOCKS 5 connection');
  const name = request.subarray(sort === 3 ? 5 : 4, -2);
  const host = sort === 1 ? name.join('.') : sort === 4 ? sixteen(name) : name.toString('latin1');
  return { host: host.replace(/^\[|\]$/g, ''), port: request.readUInt16BE(request.length - 2) };
}

function placeOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const usual = protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
  return `${hostname.replace(/^\[|\]$/g, '')} ${port === '' ? usual : port}`;
}

async function connectStraight(
  host: string,
  port: number,
  lookup: LookupFunction | undefined,
): Promise<Socket> {
  const socket = connect({ host, port, ...(lookup ? { lookup } : {}) });
  const late = () => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }));
  socket.setTimeout(connectMs, late);
  // Whoever stops does not wait for it.
  socket.unref();
  await once(socket, 'connect');
  socket.ref();
  socket.setTimeout(0);
  socket.off('timeout', late);
  return socket;
}

function join(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
}

/**
 * Opens the way out for one browser context: a SOCKS 5 server on a free port of this machine. Names
 * are resolved here, and every address is judged when the connection is made, so that no page, frame,
 * script or redirect reaches anything but the public internet and the origin that is read.
 */
export async function openEgress(rules: EgressRules): Promise<Egress> {
  const { origin, allowPrivate, resolve, connect = connectStraight } = rules;
  const own = origin === null ? null : placeOf(origin);
  const lookup = guardedLookup(resolve);
  const faults = new Map<string, Fault>();
  const sockets = new Set<Socket>();
  const hold = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  };

  const reach = async (host: string, port: number): Promise<Socket> => {
    const free = allowPrivate || `${host} ${port}` === own;
    if (!free && isIP(host) !== 0 && !isPublicAddress(host)) {
      throw new Fault('address_refused', `${host} is not an address of the public internet`);
    }
    const socket = await connect(host, port, free ? undefined : lookup);
    hold(socket);
    return socket;
  };

  const serve = async (socket: Socket): Promise<void> => {
    const { host, port } = await wanted(socket);
    socket.setTimeout(0);
    const place = `${host} ${port}`;
    try {
      const upstream = await reach(host, port);
      faults.delete(place);
      if (socket.destroyed) return void upstream.destroy();
      socket.write(reply(connected));
      join(socket, upstream);
    } catch (error) {
      const fault = networkFault(error, host);
      if (faults.size >= mostFaults) faults.clear();
      faults.set(place, fault);
      socket.end(reply(fault.code === 'address_refused' ? refused : unreachable));
    }
  };

  const server = createServer((socket) => {
    hold(socket);
    socket.setTimeout(connectMs, () => socket.destroy());
    serve(socket).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    proxy: `socks5://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faultOf: (url) => faults.get(placeOf(url)),
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
