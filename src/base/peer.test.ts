import { expect, test } from 'vitest';
import { Fault } from '../contract/fault.ts';
import { type Channel, createPeer } from './peer.ts';

interface Service {
  double(value: number): Promise<number>;
  refuse(value: null): Promise<void>;
  hear(value: string): void;
  hang(value: null): Promise<void>;
}

/** Returns two connected ends of a channel that clones its messages, as between processes. */
function channels(): [Channel, Channel] {
  const listeners: ((message: unknown) => void)[] = [];
  const end = (own: number, other: number): Channel => ({
    send: (message) => queueMicrotask(() => listeners[other]!(structuredClone(message))),
    receive: (listener) => {
      listeners[own] = listener;
    },
  });
  return [end(0, 1), end(1, 0)];
}

function connect() {
  const [here, there] = channels();
  const heard: string[] = [];
  const service: Service = {
    double: async (value) => value * 2,
    refuse: async () => {
      throw new Fault('unavailable', 'the store is away', { component: 'store', retryAfterMs: 700 });
    },
    hear: (value) => {
      heard.push(value);
    },
    hang: () => new Promise(() => {}),
  };
  createPeer<Record<never, never>, Service>(there, service);
  return { peer: createPeer<Service, Record<never, never>>(here, {}), heard };
}

test('call() returns the result of the remote function, also for concurrent calls', async () => {
  const { peer } = connect();
  expect(await Promise.all([peer.call('double', 2), peer.call('double', 5)])).toEqual([4, 10]);
});

test('call() rejects with the code, message, and details of the remote fault', async () => {
  const { peer } = connect();
  await expect(peer.call('refuse', null)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the store is away',
    component: 'store',
    retryAfterMs: 700,
  });
});

test('notify() sends a call without waiting for it', async () => {
  const { peer, heard } = connect();
  peer.notify('hear', 'news');
  await peer.call('double', 1);
  expect(heard).toEqual(['news']);
});

test('call() rejects for an unknown function', async () => {
  const { peer } = connect();
  await expect(peer.call('toString' as 'hang', null)).rejects.toMatchObject({ code: 'internal' });
});

test('close() rejects pending and later calls', async () => {
  const { peer } = connect();
  const hanging = peer.call('hang', null);
  expect(peer.closed).toBe(false);
  peer.close();
  await expect(hanging).rejects.toMatchObject({ code: 'unavailable' });
  await expect(peer.call('double', 1)).rejects.toMatchObject({ code: 'unavailable' });
  expect(peer.closed).toBe(true);
});

test('messages of one turn are sent together, in order', async () => {
  const [here, there] = channels();
  const heard: string[] = [];
  const sent: unknown[] = [];
  const service: Pick<Service, 'hear' | 'double'> = {
    double: async (value) => value * 2,
    hear: (value) => {
      heard.push(value);
    },
  };
  createPeer<Record<never, never>, typeof service>(there, service);
  const peer = createPeer<typeof service, Record<never, never>>(
    { ...here, send: (messages) => here.send(sent.push(messages) && messages) },
    {},
  );
  peer.notify('hear', 'one');
  const doubled = peer.call('double', 4);
  await Promise.resolve();
  peer.notify('hear', 'two');
  expect(await doubled).toBe(8);
  expect(heard).toEqual(['one', 'two']);
  expect(sent).toHaveLength(1);
});
