import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import puppeteer from 'puppeteer-core';
import { findBrowser } from '../../src/base/browser-path.ts';
import { chromiumMissing, type MissingEngine } from './missing.ts';
import { startMongo } from './mongo.ts';
import { startNats } from './nats.ts';
import { startS3 } from './s3.ts';
import { sharedEngines } from './share.ts';

/** An engine that all test files of a run share. */
interface SharedEngine {
  /** Returns an address for one more user, whose data no other user sees. */
  address(): string | Promise<string>;
  stop(): Promise<unknown>;
}

/** The engines of a run. Each starts on its first request. */
const engines: Readonly<Record<string, () => Promise<SharedEngine | MissingEngine>>> = {
  async mongo() {
    const engine = await startMongo();
    return 'missing' in engine ? engine : { address: engine.fresh, stop: engine.stop };
  },
  async nats() {
    const engine = await startNats({ accounts: true });
    return 'missing' in engine ? engine : { address: engine.nextAccount, stop: engine.stop };
  },
  async s3() {
    const engine = await startS3();
    return 'missing' in engine ? engine : { address: engine.createBucket, stop: engine.stop };
  },
  async chromium() {
    const path = process.env.GLEANER_BROWSER ?? findBrowser(process.env.PATH ?? '');
    if (!path) return { missing: chromiumMissing };
    const browser = await puppeteer.launch({
      executablePath: path,
      args: [
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-dev-shm-usage',
        '--force-prefers-reduced-motion',
        '--lang=en-GB',
      ],
    });
    return { address: () => browser.wsEndpoint(), stop: () => browser.close() };
  },
};

/**
 * Offers the engines to the test files of a run. Returns a function that stops the started ones.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<SharedEngine | MissingEngine>>();
  const server = createServer(async (request, response) => {
    const name = request.url!.slice(1);
    try {
      const starting = started.get(name) ?? engines[name]!();
      started.set(name, starting);
      const engine = await starting;
      response.end(
        JSON.stringify('missing' in engine ? engine : { address: await engine.address() }),
      );
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env[sharedEngines] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    delete process.env[sharedEngines];
    server.close();
    server.closeAllConnections();
    for (const starting of started.values()) {
      const engine = await starting.catch(() => null);
      if (engine && !('missing' in engine)) await engine.stop();
    }
  };
}
