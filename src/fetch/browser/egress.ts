import { once } from 'node:events';
import { type AddressInfo, connect, createServer, isIP, type Socket } from 'node:net';
import { Fault } from '../../base/fault.ts';
import { guardedLookup, isPublicAddress, type ResolveName } from '../address.ts';
import { networkFault } from '../network-fault.ts';

/** Where the connections of a browser's pages may go. */
export interface EgressRules {
  /** Scheme, host and port that is read: reachable wherever it is; null: nothing is. */
  origin: string | null;
  /** Pages may reach private addresses beside it. */
  allowPrivate: boolean;
  /** Resolves names; `dns.lookup` when absent. */
  resolve?: ResolveName | undefined;
}

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

/** What a part of the conversation came to, and its length in bytes; null while it is incomplete. */
type Parse<Value> = (bytes: Buffer) => { value: Value; length: number } | null;

/** Takes one part of the conversation; what follows it stays to be read. Rejects when `parse` throws and
 *  when the other side hangs up before. */
function take<Value>(socket: Socket, parse: Parse<Value>): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  let bytes = Buffer.alloc(0);
  const more = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    try {
      const found = parse(bytes);
      if (!found) return;
      socket.off('data', more).pause();
      socket.unshift(bytes.subarray(found.length));
      resolve(found.value);
    } catch (error) {
      reject(error);
    }
  };
  socket.on('data', more).resume();
  socket.once('close', () => reject(new Error('the browser hung up')));
  return promise;
}

const greeting: Parse<null> = (bytes) => {
  if (bytes.length > 0 && bytes[0] !== version) throw new Error('not SOCKS 5');
  const length = 2 + (bytes[1] ?? 0);
  if (bytes.length < 2 || bytes.length < length) return null;
  if (!bytes.subarray(2, length).includes(noAuthentication)) throw new Error('authentication is not offered');
  return { value: null, length };
};

function sixteen(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':');
}

/** Where the browser wants to be connected with. */
const wanted: Parse<{ host: string; port: number }> = (bytes) => {
  if (bytes.length < 5) return null;
  const [spoken, command, , sort, first] = bytes;
  if (spoken !== version || command !== connectCommand) throw new Error('not a SOCKS 5 connection');
  const [start, size] = sort === 3 ? [5, first!] : [4, sort === 1 ? 4 : 16];
  const length = start + size + 2;
  if (bytes.length < length) return null;
  const name = bytes.subarray(start, start + size);
  const host = sort === 1 ? name.join('.') : sort === 4 ? sixteen(name) : name.toString('latin1');
  return { value: { host: host.replace(/^\[|\]$/g, ''), port: bytes.readUInt16BE(length - 2) }, length };
};

function placeOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const usual = protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
  return `${hostname.replace(/^\[|\]$/g, '')} ${port === '' ? usual : port}`;
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
export async function openEgress({ origin, allowPrivate, resolve }: EgressRules): Promise<Egress> {
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
    const socket = connect({ host, port, timeout: connectMs, ...(free ? {} : { lookup }) });
    hold(socket);
    socket.once('timeout', () => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    await once(socket, 'connect');
    socket.setTimeout(0);
    return socket;
  };

  const serve = async (socket: Socket): Promise<void> => {
    await take(socket, greeting);
    socket.write(Buffer.from([version, noAuthentication]));
    const { host, port } = await take(socket, wanted);
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
