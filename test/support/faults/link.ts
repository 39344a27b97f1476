import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A TCP proxy between a process and a server that simulates network faults. */
export interface FaultyLink {
  /** Port on 127.0.0.1 that forwards to the server. */
  readonly port: number;
  /** Keeps connections open but passes nothing, like a network that loses every packet. */
  silence(): void;
  /** Resets every open and every new connection. */
  cut(): void;
  /** Delays everything by `ms` milliseconds, keeping the order. */
  delay(ms: number): void;
  /** Ends all faults and passes what was held back. */
  heal(): void;
  stop(): Promise<void>;
}

/** Decides on the data of a connection. */
export interface LinkFilter {
  /**
   * Called with each piece of data before it is passed on. Returns false to reset the connection
   * instead. `connection` identifies it.
   */
  passes(connection: object, data: Buffer, from: 'client' | 'server'): boolean;
}

/** Starts a link to a port on 127.0.0.1. */
export async function startLink(to: number, filter?: LinkFilter): Promise<FaultyLink> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let delayMs = 0;
  let healed = Promise.withResolvers<void>();
  healed.resolve();

  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  };
  const pass = async (from: Socket, target: Socket, side: 'client' | 'server') => {
    const connection = side === 'client' ? from : target;
    try {
      for await (const chunk of from) {
        if (delayMs > 0) await wait(delayMs);
        await healed.promise;
        if (filter?.passes(connection, chunk, side) === false) {
          from.resetAndDestroy();
          target.resetAndDestroy();
        }
        if (!target.write(chunk)) await once(target, 'drain');
      }
      target.end();
    } catch {
      // If one end closes, the other must, too.
      from.destroy();
      target.destroy();
    }
  };
  const server = net.createServer((socket) => {
    track(socket);
    if (isCut) return void socket.resetAndDestroy();
    const target = net.connect(to, '127.0.0.1');
    track(target);
    socket.on('close', () => target.destroy());
    target.on('close', () => socket.destroy());
    void pass(socket, target, 'client');
    void pass(target, socket, 'server');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const heal = () => {
    isCut = false;
    delayMs = 0;
    healed.resolve();
  };
  return {
    port: (server.address() as AddressInfo).port,
    silence: () => {
      healed = Promise.withResolvers();
    },
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    delay: (ms) => {
      delayMs = ms;
    },
    heal,
    stop: async () => {
      heal();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
