import { expect, test } from 'vitest';
import { requireIndexes } from '../../test/support/engines/index-check.ts';
import { aRule } from './conformance/history-samples.ts';
import { aTime, aUser } from './conformance/samples.ts';
import { openSqliteStore } from './sqlite/open.ts';
import { isStream, replaceMethods, wrapMethods } from './wrap.ts';

test('wrapMethods() wraps the methods of the store, its parts, and its collections, and names their paths', async () => {
  const plain = openSqliteStore({ path: ':memory:' });
  const called: string[] = [];
  const store = wrapMethods(plain, (name, method) => (...parameters) => {
    called.push(name);
    return method(...parameters);
  });
  await store.ping();
  await store.users.insert(aUser());
  expect(await store.ledger.get('grant:1')).toBeNull();
  expect(await Array.fromAsync(store.batches.read('a job'))).toEqual([]);
  expect(called).toEqual(['ping', 'users.insert', 'ledger.get', 'batches.read']);
  expect(called.filter(isStream)).toEqual(['batches.read']);
  expect(store.engine).toBe('SQLite');
});

test('the store has 47 methods, of which 14 are the operations of each collection', () => {
  const names: string[] = [];
  const plain = openSqliteStore({ path: ':memory:' });
  wrapMethods(plain, (name, method) => {
    names.push(name);
    return method;
  });
  const operations = new Set(Object.keys(plain.rules));
  const others = names.filter((name) => !operations.has(name.split('.').at(-1)!));
  expect([operations.size, operations.size + others.length]).toEqual([14, 47]);
});

test('replaceMethods() leaves the other methods, and the given store', async () => {
  const plain = openSqliteStore({ path: ':memory:' });
  const user = aUser();
  const store = replaceMethods(plain, { users: { get: async () => user }, ping: async () => 7 });
  expect([await store.users.get('x'), await store.ping()]).toEqual([user, 7]);
  expect([await store.users.insert(user), await plain.users.get('x')]).toEqual([true, null]);
});

test('requireIndexes() rejects calls that read a whole collection', async () => {
  const store = requireIndexes(openSqliteStore({ path: ':memory:' }));
  const { rules, users, schedules, observations } = store;
  await rules.insert(aRule());
  const whole = [
    () => rules.find({ name: 'x' }),
    () => rules.count({ enabled: true }, 5),
    () => rules.update({ name: 'x' }, { name: 'y' }),
    () => rules.remove({ userId: { not: 'x' } }),
    () => rules.list({}, { limit: 5 }),
    () => schedules.find({ dueAt: null }, { order: ['dueAt', 'id'], limit: 5 }),
    () => observations.writeAll([], [[{ jobId: 'x' }, { endedAt: 1 }]]),
  ];
  for (const call of whole) expect(call).toThrow('reads the whole collection');
  await rules.find({ userId: 'x', name: 'x' });
  await rules.update({ id: 'x', revision: 1 }, { name: 'y' });
  await schedules.find({ dueAt: { atMost: aTime } }, { order: ['dueAt', 'id'], limit: 5 });
  await users.find({ deletedAt: { not: null }, erased: false });
});
