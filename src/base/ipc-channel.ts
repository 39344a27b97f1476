import { Fault, type FaultCode, type FaultDetails } from '../contract/fault.ts';

/** One end of a message channel between two processes or threads. */
export interface Channel {
  /** Sends a structured-cloneable message. Does nothing if the other end is closed. */
  send(message: unknown): void;
  /** Calls `listener` with every message from the other end. */
  receive(listener: (message: unknown) => void): void;
}

/** Functions that one end exposes to the other. Each takes one argument. */
export type Calls<T> = { [Name in keyof T]: (value: never) => unknown };

type ValueOf<T extends Calls<T>, Name extends keyof T> = Parameters<T[Name]>[0];
type ResultOf<T extends Calls<T>, Name extends keyof T> = Awaited<ReturnType<T[Name]>>;

/** Proxy for the functions that the other end exposes. */
export interface IpcChannel<Theirs extends Calls<Theirs>> {
  /** True once the other end is closed. */
  readonly closed: boolean;
  /**
   * Calls a remote function. Rejects with its fault, or with fault `unavailable` if the other end
   * is closed.
   */
  call<Name extends keyof Theirs & string>(
    name: Name,
    value: ValueOf<Theirs, Name>,
  ): Promise<ResultOf<Theirs, Name>>;
  /** Calls a remote function without waiting for it. Its errors are ignored. */
  notify<Name extends keyof Theirs & string>(name: Name, value: ValueOf<Theirs, Name>): void;
  /** Sends the messages of this turn of the event loop now, because one of them is urgent. */
  flush(): void;
  /** Rejects pending and later calls because the other end is closed. */
  close(): void;
}

type Message =
  | { type: 'call'; id: number | null; name: string; value: unknown }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'fault'; id: number; code: FaultCode; message: string; details: FaultDetails };

/**
 * Creates a peer. `ours` holds the functions that the other end may call. Messages of one turn of
 * the event loop are sent together, because each send costs both processes a system call and a
 * serializer.
 */
export function createIpcChannel<Theirs extends Calls<Theirs>, Ours extends Calls<Ours>>(
  channel: Channel,
  ours: Ours,
): IpcChannel<Theirs> {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let nextId = 1;
  let closed = false;
  let outbox: Message[] = [];
  const flush = () => {
    if (outbox.length === 0) return;
    const messages = outbox;
    outbox = [];
    channel.send(messages);
  };
  const send = (message: Message) => {
    // Ticks run once the promises that are settled now have been handled.
    if (outbox.length === 0) process.nextTick(flush);
    outbox.push(message);
  };

  const reply = async (id: number | null, name: string, value: unknown) => {
    try {
      if (!Object.hasOwn(ours, name)) throw new Fault('internal', `unknown function '${name}'`);
      const result = await ours[name as keyof Ours](value as never);
      if (id !== null) send({ type: 'result', id, value: result });
    } catch (error) {
      const { code, message, retryAfterMs, component } = Fault.from(error);
      const details: FaultDetails = {};
      if (retryAfterMs !== undefined) details.retryAfterMs = retryAfterMs;
      if (component !== undefined) details.component = component;
      if (id === null) return;
      send({
        type: 'fault',
        id,
        code,
        message,
        details,
      });
    }
  };

  const handle = (message: Message) => {
    if (message.type === 'call') {
      void reply(message.id, message.name, message.value);
      return;
    }
    const call = pending.get(message.id);
    pending.delete(message.id);
    if (message.type === 'result') call?.resolve(message.value);
    else call?.reject(new Fault(message.code, message.message, message.details));
  };
  channel.receive((received) => {
    for (const message of received as Message[]) handle(message);
  });

  return {
    get closed() {
      return closed;
    },
    call: (name, value) => {
      if (closed) return Promise.reject(gone());
      const id = nextId++;
      const call = Promise.withResolvers<unknown>();
      pending.set(id, call);
      send({ type: 'call', id, name, value });
      return call.promise as Promise<never>;
    },
    notify: (name, value) =>
      send({
        type: 'call',
        id: null,
        name,
        value,
      }),
    flush,
    close: () => {
      closed = true;
      for (const { reject } of pending.values()) reject(gone());
      pending.clear();
    },
  };
}

const gone = () => new Fault('unavailable', 'The other process has ended.');
