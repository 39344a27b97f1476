import { request } from 'node:http';
import { expect, test } from 'vitest';
import { defaultConnectionLimits } from '../base/connections.ts';
import { createLog } from '../base/log.ts';
import { openOpsPort } from './ops-port.ts';

/** Sends a request with an unmodified target and returns the status. */
const statusOf = (port: number, path: string) =>
  new Promise<number>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', reject).end();
  });

test('returns 404 for malformed targets, and ignores queries', async () => {
  const server = await openOpsPort({
    host: '127.0.0.1',
    port: 0,
    limits: defaultConnectionLimits,
    log: createLog('silent', 'test'),
    scrape: (_request, response) => response.end(),
    ready: async () => {},
  });
  try {
    for (const path of ['//', '//:x', '/none'])
      expect([path, await statusOf(server.port, path)]).toEqual([path, 404]);
    expect(await statusOf(server.port, '/health?a=//')).toBe(200);
  } finally {
    await server.close(0);
  }
});
