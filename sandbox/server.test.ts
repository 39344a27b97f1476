import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Origin } from './origin.ts';
import { type RunningOrigins, startOrigins } from './server.ts';

const body = JSON.stringify({ text: 'y'.repeat(5000) });
const origin: Origin = {
  market: 'mktb',
  regions: ['id', 'sg'],
  subject: ({ url, body: sent }) => url.searchParams.get('id') ?? (sent === '' ? undefined : sent),
  respond: ({ region }) => ({
    status: 200,
    headers: { 'content-type': 'application/json', 'x-region': region },
    body,
  }),
};
const store: Origin = { ...origin, market: 'mktf', regions: [''] };

let running: RunningOrigins;

beforeAll(async () => {
  running = await startOrigins({ origins: [origin, store], slowMs: 1, retryAfter: 7 });
});

afterAll(() => running.stop());

async function ask(
  id: string,
  region = 'id',
): Promise<{ status: number; text: string; headers: Headers } | string> {
  try {
    const response = await fetch(`${running.address('mktb', region)}/page?id=${id}`, {
      signal: AbortSignal.timeout(800),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  } catch (error) {
    return (error as Error).name;
  }
}

const good = { status: 200, text: body };

test('gives each region an address and allows private stores', () => {
  expect(running.config).toEqual({
    mktb: { id: running.address('mktb', 'id'), sg: running.address('mktb', 'sg') },
    mktf: { '': running.address('mktf', ''), allow_private: true },
  });
  expect(new Set([running.address('mktb', 'id'), running.address('mktb', 'sg')]).size).toBe(2);
});

test('responds for the requested region and counts requests', async () => {
  const response = await ask('1', 'sg');
  expect(response).toMatchObject(good);
  expect((response as { headers: Headers }).headers.get('x-region')).toBe('sg');
  await ask('2', 'sg');
  expect(running.counters()['mktb/sg /page']).toBe(2);
  expect(running.peaks()['mktb/sg']).toBe(1);
});

describe('wire faults', () => {
  test.each([
    ['901', 'TypeError'],
    ['903', 'TypeError'],
    ['905', { status: 200, text: expect.stringContaining('<!doctype html>') }],
    ['907', { status: 429 }],
    ['909', { status: 503 }],
    ['911', { status: 403, text: 'Forbidden' }],
    ['913', 'TimeoutError'],
    ['915', { status: 200, text: expect.stringMatching(/<!-- $/) }],
  ])(
    '%s affects the first request about a subject, and every request about its neighbour',
    async (digits, what) => {
      const matches =
        typeof what === 'string' ? expect.stringMatching(what) : expect.objectContaining(what);
      expect(await ask(`5${digits}`)).toEqual(matches);
      expect(await ask(`5${digits}`)).toMatchObject(good);
      expect(await ask(`6${digits}`)).toEqual(matches);
      const neighbour = `5${Number(digits) + 1}`;
      expect(await ask(neighbour)).toEqual(matches);
      expect(await ask(neighbour)).toEqual(matches);
    },
  );

  test('sends Retry-After when throttled, and delays slow responses', async () => {
    expect(((await ask('7907')) as { headers: Headers }).headers.get('retry-after')).toBe('7');
    expect(await ask('900')).toMatchObject(good);
  });

  test('finds the subject in a request body', async () => {
    const response = await fetch(`${running.address('mktb', 'id')}/post`, {
      method: 'POST',
      body: 'x909',
    });
    expect(response.status).toBe(503);
  });

  test('are disabled with misbehaviour: none', async () => {
    const calm = await startOrigins({ origins: [origin], misbehaviour: 'none' });
    try {
      expect((await fetch(`${calm.address('mktb', 'id')}/page?id=902`)).status).toBe(200);
    } finally {
      await calm.stop();
    }
  });
});
