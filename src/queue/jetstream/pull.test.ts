import type { Msg, NatsConnection, NatsError } from 'nats';
import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { ConnectionSession } from './connection.ts';
import { pull } from './pull.ts';

/**
 * Imitates the driver on a lost connection: subscriptions get an error, and drain() never settles.
 */
function losing() {
  let tell: (error: NatsError | null, message: Msg) => void = () => {};
  const ended = new AbortController();
  const connection = {
    subscribe: (_inbox: string, { callback }: { callback: typeof tell }) => {
      tell = callback;
      return { unsubscribe: () => {}, drain: () => new Promise(() => {}) };
    },
    publish: () => {},
  };
  const session = {
    nc: connection as unknown as NatsConnection,
    ended: ended.signal,
  } as ConnectionSession;
  return {
    session,
    lose: () => tell(new Error('closed') as NatsError, {} as Msg),
    end: () => ended.abort(),
  };
}

test('pull() ends if the connection is lost while the subscription drains', async () => {
  const { session, lose, end } = losing();
  const request = { stream: 's', consumer: 'c', count: 1, pullMs: 1_000, heartbeatMs: 500 };
  const pulling = pull(session, request, systemClock, new AbortController().signal, () => {});
  lose();
  await new Promise((resolve) => setImmediate(resolve));
  end();
  expect(await pulling).toBe('refused');
});
