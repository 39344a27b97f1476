import { expect, test } from 'vitest';
import { Fault } from '../contract/fault.ts';
import { type Channel, createIpcChannel } from './ipc-channel.ts';

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
      throw new Fault('unavailable', 'the store is away', {
        component: 'store',
        retryAfterMs: 700,
      });
    },
    hear: (value) => {
      heard.push(value);
    },
    hang: () => new Promise(() => {}),
  };
  createIpcChannel<Record<never, never>, Service>(there, service);
  return { channel: createIpcChannel<Service, Record<never, never>>(here, {}), heard };
}

test('call() returns the result of the remote function, also for concurrent calls', async () => {
  const { channel } = connect();
  expect(await Promise.all([channel.call('double', 2), channel.call('double', 5)])).toEqual([
    4, 10,
  ]);
});

test('call() rejects with the code, message, and details of the remote fault', async () => {
  const { channel } = connect();
  await expect(channel.call('refuse', null)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the store is away',
    component: 'store',
    retryAfterMs: 700,
  });
});

test('notify() sends a call without waiting for it', async () => {
  const { channel, heard } = connect();
  channel.notify('hear', 'news');
  await channel.call('double', 1);
  expect(heard).toEqual(['news']);
});

test('call() rejects for an unknown function', async () => {
  const { channel } = connect();
  await expect(channel.call('toString' as 'hang', null)).rejects.toMatchObject({
    code: 'internal',
  });
});

test('close() rejects pending and later calls', async () => {
  const { channel } = connect();
  const hanging = channel.call('hang', null);
  expect(channel.closed).toBe(false);
  channel.close();
  await expect(hanging).rejects.toMatchObject({ code: 'unavailable' });
  await expect(channel.call('double', 1)).rejects.toMatchObject({ code: 'unavailable' });
  expect(channel.closed).toBe(true);
});

/** A channel to a service that hears messages, and the groups in which they are sent. */
function openHearing() {
  const [here, there] = channels();
  const heard: string[] = [];
  const sent: unknown[] = [];
  const service: Pick<Service, 'hear' | 'double'> = {
    double: async (value) => value * 2,
    hear: (value) => {
      heard.push(value);
    },
  };
  createIpcChannel<Record<never, never>, typeof service>(there, service);
  const channel = createIpcChannel<typeof service, Record<never, never>>(
    { ...here, send: (messages) => here.send(sent.push(messages) && messages) },
    {},
  );
  return { channel, heard, sent };
}

test('sends the messages of one turn of the event loop together, in order', async () => {
  const { channel, heard, sent } = openHearing();
  channel.notify('hear', 'one');
  const doubled = channel.call('double', 4);
  await Promise.resolve();
  channel.notify('hear', 'two');
  expect(await doubled).toBe(8);
  expect(heard).toEqual(['one', 'two']);
  expect(sent).toHaveLength(1);
});

test('flush() sends the pending messages at once, each only once', async () => {
  const { channel, heard, sent } = openHearing();
  channel.notify('hear', 'one');
  channel.flush();
  expect(sent).toHaveLength(1);
  channel.flush();
  channel.notify('hear', 'two');
  expect(await channel.call('double', 4)).toBe(8);
  expect(heard).toEqual(['one', 'two']);
  expect(sent).toHaveLength(2);
});
