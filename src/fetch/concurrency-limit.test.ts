import { expect, test } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

test('lets so many in, then one for each that leaves, in order', async () => {
  const gate = createConcurrencyLimit(2);
  const order: number[] = [];
  const [first, second] = await Promise.all([gate.enter(), gate.enter()]);
  const later = [3, 4].map(async (name) => {
    const leave = await gate.enter();
    order.push(name);
    return leave;
  });
  expect(gate).toMatchObject({ inside: 2, waiting: 2 });
  first();
  first();
  (await later[0]!)();
  await later[1];
  second();
  expect(order).toEqual([3, 4]);
  expect(gate).toMatchObject({ inside: 1, waiting: 0 });
});

test('forgets who gave up waiting', async () => {
  const gate = createConcurrencyLimit(1);
  const leave = await gate.enter();
  const controller = new AbortController();
  const waiting = gate.enter(controller.signal);
  controller.abort('stop');
  await expect(waiting).rejects.toBe('stop');
  await expect(gate.enter(controller.signal)).rejects.toBe('stop');
  leave();
  expect(gate).toMatchObject({ inside: 0, waiting: 0 });
});

test('with more room lets in who waits, with less keeps who is in', async () => {
  const gate = createConcurrencyLimit(0);
  const waiting = [gate.enter(), gate.enter(), gate.enter()];
  gate.resize(2);
  const leaves = await Promise.all(waiting.slice(0, 2));
  expect(gate).toMatchObject({ inside: 2, waiting: 1 });
  gate.resize(1);
  leaves[0]!();
  expect(gate).toMatchObject({ inside: 1, waiting: 1 });
  leaves[1]!();
  await waiting[2];
  expect(gate).toMatchObject({ inside: 1, waiting: 0 });
});

test('turns away who waits, and no one else', async () => {
  const gate = createConcurrencyLimit(1);
  await gate.enter();
  const waiting = gate.enter(new AbortController().signal);
  gate.refuse('closed');
  await expect(waiting).rejects.toBe('closed');
  expect(gate).toMatchObject({ inside: 1, waiting: 0 });
});

test('lets urgent callers in before those that wait, and forgets those that gave up', async () => {
  const gate = createConcurrencyLimit(1);
  const leave = await gate.enter();
  const order: string[] = [];
  const controller = new AbortController();
  const enter = async (name: string, urgent: boolean, signal?: AbortSignal) => {
    const next = await gate.enter(signal, { urgent });
    order.push(name);
    next();
  };
  const ordinary = enter('ordinary', false);
  const gone = enter('gone', true, controller.signal);
  const urgent = enter('urgent', true);
  controller.abort('stop');
  await expect(gone).rejects.toBe('stop');
  expect(gate.waiting).toBe(2);
  leave();
  await Promise.all([ordinary, urgent]);
  expect(order).toEqual(['urgent', 'ordinary']);
});

test('lets users in by turns, and the jobs of a user', async () => {
  const gate = createConcurrencyLimit(0);
  const order: string[] = [];
  const enter = async (userId: string, jobId: string) => {
    const leave = await gate.enter(undefined, { owner: { userId, jobId } });
    order.push(jobId);
    leave();
  };
  const callers = ['a1', 'a1', 'a1', 'a2', 'b1', 'b1'];
  const entering = callers.map((jobId) => enter(jobId[0]!, jobId));
  gate.resize(1);
  await Promise.all(entering);
  expect(order).toEqual(['a1', 'b1', 'a2', 'b1', 'a1', 'a1']);
});
