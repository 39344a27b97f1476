import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { until } from '../../test/support/time/until.ts';
import { systemClock } from '../base/clock.ts';
import { createLog } from '../base/log.ts';
import { defaultMarketLimits } from './limits.ts';
import { createPageMemory } from './page-memory.ts';
import { createSandboxPages, type SandboxPages } from './sandbox-pages.ts';

/** Requests that the fake marketplace holds. */
const held: ServerResponse[] = [];
let page = 'a page';
const server = createServer((_request, response) => void held.push(response));
let sandbox: SandboxPages;

async function open(): Promise<SandboxPages> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addresses = { mkta: { sg: url } };
  sandbox = createSandboxPages({
    addresses: async () => addresses,
    clock: systemClock,
    log: createLog('silent', 'test'),
    userAgent: 'test',
    limitsOf: () => defaultMarketLimits,
    memory: createPageMemory({ maxBytes: 512 * 1024 ** 2, clock: systemClock }),
  });
  return sandbox;
}

afterEach(async () => {
  await sandbox.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  held.length = 0;
});

const session = (userId: string) =>
  sandbox.openSession('mkta', 'sg', new AbortController().signal, {
    owner: { userId, jobId: userId },
  });

test('a process reads at most eight pages of test jobs at a time, in turn for each account', async () => {
  await open();
  const order: string[] = [];
  const read = async (userId: string) => {
    await session(userId).fetch({ path: '/item' });
    order.push(userId);
  };
  const reads = [...Array.from({ length: 20 }, () => read('large')), read('small')];
  let answered = 0;
  while (answered < reads.length) {
    const expected = Math.min(8, reads.length - answered);
    await until('the pages are requested', () => held.length >= expected || undefined, {
      withinMs: 5_000,
    });
    expect(held).toHaveLength(expected);
    answered += expected;
    for (const response of held.splice(0)) response.end(page);
  }
  await Promise.all(reads);
  expect(order.indexOf('small')).toBeLessThan(12);
});

test('a test unit reads a bounded number of bytes', async () => {
  await open();
  page = 'x'.repeat(5 * 1024 ** 2);
  const { fetch } = session('large');
  const fetchHeld = async () => {
    const response = fetch({ path: '/item' });
    await until('the page is requested', () => held.length > 0 || undefined, { withinMs: 5_000 });
    held.shift()!.end(page);
    return response;
  };
  await fetchHeld();
  await expect(fetchHeld()).rejects.toMatchObject({ code: 'page_too_large' });
});
