import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createBrowserSession } from '../../src/access/browser-session.ts';
import { defaultConnectionLimits, httpOptions } from '../../src/base/connections.ts';
import { readLimits } from '../../src/base/limits.ts';
import { createPortShares } from '../../src/base/port-shares.ts';
import { createBodyBudget } from '../../src/contract/body-budget.ts';
import { smallBodyBytes } from '../../src/contract/body-limit.ts';
import { formatCount } from '../../src/present/text.ts';
import { streamLimits } from '../../src/queue/jetstream/limits.ts';
import { aKey, aTime, aUser } from '../../src/store/conformance/samples.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { root } from '../support/service/service.ts';

const limitsPage = readFileSync(join(root, 'docs/limits.md'), 'utf8');

/** Returns the limit in the row of a table that begins with a text. */
function documentedLimit(text: string): string {
  const row = limitsPage.split('\n').find((line) => line.startsWith(`| ${text}`));
  return row!.split(' | ')[1]!.replace(/ \|$/, '');
}

const mebibyte = 1024 ** 2;
const { maxConnections } = readLimits(1);
const { headersMs, requestMs, idleMs, checkMs } = defaultConnectionLimits;
const { maxStreams, maxPortStreams, maxRefusedBytes } = defaultConnectionLimits;
const { maxHeaderSize } = httpOptions(defaultConnectionLimits);

test.each([
  ['open connections of a port', `${formatCount(maxConnections)};`],
  ['first byte of a connection', `${headersMs / 1000} s; ${maxHeaderSize / 1024} KB`],
  ['a complete request with its body', `${requestMs / 60_000} min:`],
  ['a connection without a request', `${idleMs / 1000} s`],
  [
    'bytes that a connection sends',
    `${maxRefusedBytes / mebibyte} MB, checked every ${checkMs / 1000} s`,
  ],
  ['HTTP/2: concurrent streams of a connection', `${maxStreams}`],
  ['HTTP/2: concurrent streams of all', formatCount(maxPortStreams)],
])('docs/limits.md states the limit of %s', (text, limit) => {
  expect(documentedLimit(text).startsWith(limit)).toBe(true);
});

test('docs/limits.md states the memory for bodies', async () => {
  const budget = createBodyBudget();
  const signal = AbortSignal.abort(new Error('no memory'));
  const userBytes = 32 * mebibyte;
  await budget.reserve('a', userBytes, new AbortController().signal);
  await expect(budget.reserve('a', 1, signal)).rejects.toThrow('no memory');
  await budget.reserve('b', 16 * mebibyte, new AbortController().signal);
  expect(budget.usage().usedBytes).toBe(budget.usage().limitBytes);
  const row = documentedLimit(`bodies over ${smallBodyBytes / 1024} KB in memory at once`);
  expect(row).toContain('48 MB per process, 32 MB per user;');
});

test('docs/limits.md states the shares of accounts in a port', () => {
  const shares = createPortShares(maxConnections);
  const begin = (account: string, count: number) => {
    for (let index = 0; index < count; index += 1) shares.begin(account, 'stream');
  };
  expect(documentedLimit('requests in progress of an account')).toMatch(
    /^200, .* at most 400 such responses per second/,
  );
  begin('a', 200);
  expect(() => begin('a', 1)).toThrow('More than 200');
  for (let second = 0; second < 400; second += 1) shares.delayRefusal(0);
  expect(shares.delayRefusal(0)).toBeCloseTo(1_000);
  expect(documentedLimit('the same of all accounts')).toMatch(/^1,950, /);
  for (let account = 0; account < 35; account += 1) begin(`${account}`, 50);
  expect(() => begin('b', 1)).toThrow('too many requests');
});

test('docs/limits.md states the lifetime and the number of sessions of the console', async () => {
  expect(documentedLimit('a session of the console lasts')).toBe('7 days, at most 20 per account');
  const store = openSqliteStore({ path: ':memory:' });
  const user = aUser();
  await store.users.insert(user);
  const key = aKey({ userId: user.id, expiresAt: null });
  await store.apiKeys.insert(key);
  const principal = { userId: user.id, keyId: key.id };
  for (let turn = 0; turn < 21; turn += 1) {
    const { expiresAt } = await createBrowserSession(store, principal, aTime + turn);
    expect(expiresAt - aTime - turn).toBe(7 * 86_400_000);
  }
  expect(await store.sessions.find({ userId: user.id })).toHaveLength(20);
  await store.close();
});

test('docs/limits.md states the limits of the JetStream stream', () => {
  const { max_msgs, max_bytes } = streamLimits;
  expect(limitsPage.replaceAll('\n', ' ')).toContain(
    `at most ${formatCount(max_msgs)} messages, ${max_bytes / mebibyte} MiB, and 24 hours`,
  );
});
