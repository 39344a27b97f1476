import { expect, test } from 'vitest';
import { Fault } from '../contract/fault.ts';
import { createPeer, type Wire } from './peer.ts';

interface Service {
  double(value: number): Promise<number>;
  refuse(value: null): Promise<void>;
  hear(value: string): void;
  hang(value: null): Promise<void>;
}

/** Two ends of a wire that clones what it passes, as processes do. */
function wires(): [Wire, Wire] {
  const listeners: ((message: unknown) => void)[] = [];
  const end = (own: number, other: number): Wire => ({
    send: (message) => queueMicrotask(() => listeners[other]!(structuredClone(message))),
    receive: (listener) => {
      listeners[own] = listener;
    },
  });
  return [end(0, 1), end(1, 0)];
}

function connect() {
  const [here, there] = wires();
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

test('a call gives what the other end returns, and calls may overlap', async () => {
  const { peer } = connect();
  expect(await Promise.all([peer.call('double', 2), peer.call('double', 5)])).toEqual([4, 10]);
});

test('a fault keeps its code, message and details on its way', async () => {
  const { peer } = connect();
  await expect(peer.call('refuse', null)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the store is away',
    component: 'store',
    retryAfterMs: 700,
  });
});

test('a notification arrives and is not waited for', async () => {
  const { peer, heard } = connect();
  peer.notify('hear', 'news');
  await peer.call('double', 1);
  expect(heard).toEqual(['news']);
});

test('a function that the other end does not have is a fault', async () => {
  const { peer } = connect();
  await expect(peer.call('toString' as 'hang', null)).rejects.toMatchObject({ code: 'internal' });
});

test('the end of the other process rejects calls under way and later ones', async () => {
  const { peer } = connect();
  const hanging = peer.call('hang', null);
  expect(peer.closed).toBe(false);
  peer.close();
  await expect(hanging).rejects.toMatchObject({ code: 'unavailable' });
  await expect(peer.call('double', 1)).rejects.toMatchObject({ code: 'unavailable' });
  expect(peer.closed).toBe(true);
});
