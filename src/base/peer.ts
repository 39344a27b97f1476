import { Fault, type FaultCode, type FaultDetails } from '../contract/fault.ts';

/** One end of a connection between two processes or threads. */
export interface Wire {
  /** Sends a message that can be cloned; does nothing once the other end is gone. */
  send(message: unknown): void;
  /** Passes every message of the other end on. */
  receive(listener: (message: unknown) => void): void;
}

/** Functions that one end offers to the other: each takes one value. */
export type Calls<T> = { [Name in keyof T]: (value: never) => unknown };

type ValueOf<T extends Calls<T>, Name extends keyof T> = Parameters<T[Name]>[0];
type ResultOf<T extends Calls<T>, Name extends keyof T> = Awaited<ReturnType<T[Name]>>;

/** The other end of a wire, with the functions that it offers. */
export interface Peer<Theirs extends Calls<Theirs>> {
  /** True once the other end is gone. */
  readonly closed: boolean;
  /** Calls a function there. Rejects with its fault, and with `unavailable` when the other end is gone. */
  call<Name extends keyof Theirs & string>(
    name: Name,
    value: ValueOf<Theirs, Name>,
  ): Promise<ResultOf<Theirs, Name>>;
  /** Calls a function there without waiting for it; what it throws is lost. */
  notify<Name extends keyof Theirs & string>(name: Name, value: ValueOf<Theirs, Name>): void;
  /** Rejects calls under way and all later ones: the other end is gone. */
  close(): void;
}

type Message =
  | { type: 'call'; id: number | null; name: string; value: unknown }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'fault'; id: number; code: FaultCode; message: string; details: FaultDetails };

/** Connects two ends: `ours` is what the other end may call. */
export function createPeer<Theirs extends Calls<Theirs>, Ours extends Calls<Ours>>(
  wire: Wire,
  ours: Ours,
): Peer<Theirs> {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let nextId = 1;
  let closed = false;
  const send = (message: Message) => wire.send(message);

  const answer = async (id: number | null, name: string, value: unknown) => {
    try {
      if (!Object.hasOwn(ours, name)) throw new Fault('internal', `there is no function '${name}' to call`);
      const result = await ours[name as keyof Ours](value as never);
      if (id !== null) send({ type: 'result', id, value: result });
    } catch (error) {
      const { code, message, retryAfterMs, component } = Fault.from(error);
      const details = {
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(component === undefined ? {} : { component }),
      };
      if (id !== null) send({ type: 'fault', id, code, message, details });
    }
  };

  wire.receive((received) => {
    const message = received as Message;
    if (message.type === 'call') {
      void answer(message.id, message.name, message.value);
      return;
    }
    const call = pending.get(message.id);
    pending.delete(message.id);
    if (message.type === 'result') call?.resolve(message.value);
    else call?.reject(new Fault(message.code, message.message, message.details));
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
    notify: (name, value) => send({ type: 'call', id: null, name, value }),
    close: () => {
      closed = true;
      for (const { reject } of pending.values()) reject(gone());
      pending.clear();
    },
  };
}

const gone = () => new Fault('unavailable', 'The other process has ended.');
