import net, { type AddressInfo, type Server, type Socket } from 'node:net';

/** A small proxy that runs: HTTP CONNECT or SOCKS5. */
export interface RunningProxy {
  /** Host and port. */
  address: string;
  /** Hosts and ports that it was asked to connect to, in order. */
  asked: string[];
  /** `user:password` as it was given them. */
  logins: string[];
  connections(): number;
  stop(): Promise<void>;
}

/** How a proxy is to behave. */
export interface ProxyBehaviour {
  /** Where connections lead, whatever was asked for. */
  to: number;
  /** What it wants as login. */
  login?: string;
  /** Answers this instead of connecting: bytes, or nothing at all. */
  says?: Buffer | 'nothing' | 'end';
}

/** Starts a proxy that speaks HTTP CONNECT. */
export function startHttpProxy(behaviour: ProxyBehaviour): Promise<RunningProxy> {
  return start((socket, proxy) => {
    let head = '';
    const read = (chunk: Buffer) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', read);
      proxy.asked.push(/^CONNECT (\S+) HTTP\/1\.1/.exec(head)?.[1] ?? head.split('\r\n')[0]!);
      const basic = /proxy-authorization: basic (\S+)/i.exec(head)?.[1];
      const login = basic && Buffer.from(basic, 'base64').toString();
      if (login !== undefined) proxy.logins.push(login);
      if (behaviour.says !== undefined) return say(socket, behaviour.says);
      if (behaviour.login !== undefined && behaviour.login !== login) {
        return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      }
      socket.write('HTTP/1.1 200 Connection established\r\nx-proxy: yes\r\n\r\n');
      join(socket, behaviour.to);
    };
    socket.on('data', read);
  });
}

/** Starts a proxy that speaks SOCKS5. */
export function startSocksProxy(behaviour: ProxyBehaviour): Promise<RunningProxy> {
  return start((socket, proxy) => {
    let step: 'greeting' | 'login' | 'request' = 'greeting';
    const read = (bytes: Buffer) => {
      if (step === 'greeting') {
        if (behaviour.says !== undefined) return say(socket, behaviour.says);
        const method = behaviour.login === undefined ? 0 : 2;
        if (!bytes.subarray(2, 2 + bytes[1]!).includes(method)) return void socket.end(Buffer.from([5, 255]));
        step = method === 0 ? 'request' : 'login';
        // In two pieces: whoever reads has to put them together.
        socket.write(Buffer.from([5]), () => socket.write(Buffer.from([method])));
        return;
      }
      if (step === 'login') {
        const name = bytes.subarray(2, 2 + bytes[1]!).toString();
        const login = `${name}:${bytes.subarray(3 + bytes[1]!).toString()}`;
        proxy.logins.push(login);
        step = 'request';
        return void socket.write(Buffer.from([1, login === behaviour.login ? 0 : 1]));
      }
      socket.off('data', read);
      const [, , , sort] = bytes;
      const end = bytes.length - 2;
      const host =
        sort === 1
          ? bytes.subarray(4, 8).join('.')
          : sort === 3
            ? bytes.subarray(5, end).toString()
            : bytes.subarray(4, 20).toString('hex');
      proxy.asked.push(`${host}:${bytes.readUInt16BE(end)}`);
      socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
      join(socket, behaviour.to);
    };
    socket.on('data', read);
  });
}

function say(socket: Socket, words: Buffer | 'nothing' | 'end'): void {
  if (words === 'nothing') return;
  if (words === 'end') socket.destroy();
  else socket.end(words);
}

function join(socket: Socket, port: number): void {
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
    asked: [],
    logins: [],
    connections: () => connections,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
