import net, { type AddressInfo, type Server, type Socket } from 'node:net';

/** A running HTTP CONNECT or SOCKS5 proxy. */
export interface RunningProxy {
  /** Host and port. */
  address: string;
  /** `host:port` of each requested connection, in order. */
  targets: string[];
  /** `user:password` of each login, in order. */
  logins: string[];
  connections(): number;
  stop(): Promise<void>;
}

/** Behavior of a proxy. */
export interface ProxyBehavior {
  /** Port on 127.0.0.1 that connections are forwarded to. */
  to: number;
  /** Required login, as `user:password`. */
  login?: string;
  /** Reply instead of a connection: bytes, no reply, or a closed connection. */
  replies?: Buffer | 'nothing' | 'end';
}

/** Starts a proxy that speaks HTTP CONNECT. */
export function startHttpProxy(behavior: ProxyBehavior): Promise<RunningProxy> {
  return start((socket, proxy) => {
    let head = '';
    const read = (chunk: Buffer) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', read);
      proxy.targets.push(/^CONNECT (\S+) HTTP\/1\.1/.exec(head)?.[1] ?? head.split('\r\n')[0]!);
      const basic = /proxy-authorization: basic (\S+)/i.exec(head)?.[1];
      const login = basic && Buffer.from(basic, 'base64').toString();
      if (login !== undefined) proxy.logins.push(login);
      if (behavior.replies !== undefined) return reply(socket, behavior.replies);
      if (behavior.login !== undefined && behavior.login !== login) {
        return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      }
      socket.write('HTTP/1.1 200 Connection established\r\nx-proxy: yes\r\n\r\n');
      connect(socket, behavior.to);
    };
    socket.on('data', read);
  });
}

/** Starts a proxy that speaks SOCKS5. */
export function startSocksProxy(behavior: ProxyBehavior): Promise<RunningProxy> {
  return start((socket, proxy) => {
    let step: 'greeting' | 'login' | 'request' = 'greeting';
    const read = (bytes: Buffer) => {
      if (step === 'greeting') {
        if (behavior.replies !== undefined) return reply(socket, behavior.replies);
        const method = behavior.login === undefined ? 0 : 2;
        if (!bytes.subarray(2, 2 + bytes[1]!).includes(method))
          return void socket.end(Buffer.from([5, 255]));
        step = method === 0 ? 'request' : 'login';
        // In two writes, so that the client has to reassemble them.
        socket.write(Buffer.from([5]), () => socket.write(Buffer.from([method])));
        return;
      }
      if (step === 'login') {
        const name = bytes.subarray(2, 2 + bytes[1]!).toString();
        const login = `${name}:${bytes.subarray(3 + bytes[1]!).toString()}`;
        proxy.logins.push(login);
        step = 'request';
        return void socket.write(Buffer.from([1, login === behavior.login ? 0 : 1]));
      }
      socket.off('data', read);
      const port = bytes.readUInt16BE(bytes.length - 2);
      proxy.targets.push(`${hostOf(bytes)}:${port}`);
      socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
      connect(socket, behavior.to);
    };
    socket.on('data', read);
  });
}

/** Returns the host of a request of SOCKS5: an IPv4 address, a name, or an IPv6 address. */
function hostOf(request: Buffer): string {
  const [, , , addressType] = request;
  if (addressType === 1) return request.subarray(4, 8).join('.');
  if (addressType === 3) return request.subarray(5, request.length - 2).toString();
  return request.subarray(4, 20).toString('hex');
}

function reply(socket: Socket, content: Buffer | 'nothing' | 'end'): void {
  if (content === 'nothing') return;
  if (content === 'end') socket.destroy();
  else socket.end(content);
}

function connect(socket: Socket, port: number): void {
  const target = net.connect(port, '127.0.0.1');
  target.on('error', () => socket.destroy());
  socket.on('close', () => target.destroy());
  socket.pipe(target).pipe(socket);
}

async function start(serve: (socket: Socket, proxy: RunningProxy) => void): Promise<RunningProxy> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server: Server = net.createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    serve(socket, proxy);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: RunningProxy = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets: [],
    logins: [],
    connections: () => connections,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
