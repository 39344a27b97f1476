import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPlace, type Place } from '../cli/place.ts';
import { openTab, type Tab } from '../console/tab.ts';
import { sharedBrowser } from '../support/run/browser.ts';
import type { TestUser } from '../support/service/api.ts';
import { root, run } from '../support/service/service.ts';
import { skipped } from './chromium.ts';

/** Program of a page that offers the client and runs a job with it. */
const program = `
  import { createGleanerClient, MktbService } from '@gleaner/client';
  globalThis.createGleanerClient = createGleanerClient;
  globalThis.runJob = async (gleaner, productKey) => {
    const items = [{ shopDomain: 'toko-7', productKey }];
    const { jobId } = await gleaner.submit(MktbService.method.submitPdpBulk, { items });
    const job = await gleaner.wait(jobId);
    const [file] = await gleaner.files(jobId);
    const saved = await gleaner.downloadAll(jobId, 'x').catch((error) => error.name + ': ' + error.message);
    const contents = await (await gleaner.open(file.downloadUrl)).arrayBuffer();
    return { status: job.status, bytes: Number(file.bytes), read: contents.byteLength, saved };
  };`;

/**
 * Builds the package of the client, installs it in a folder, and bundles the program with it, as an
 * application does.
 */
async function bundle(folder: string): Promise<string> {
  const into = join(folder, 'node_modules/@gleaner/client');
  const built = await run(process.execPath, [join(root, 'deploy/client-package.mjs'), into]);
  if (built.code !== 0) throw new Error(built.stdout + built.stderr);
  await writeFile(join(folder, 'program.js'), program);
  const bundler = await rolldown({
    cwd: folder,
    input: './program.js',
    platform: 'browser',
    resolve: { modules: ['node_modules', join(root, 'node_modules')] },
  });
  const { output } = await bundler.generate({ format: 'iife', codeSplitting: false });
  return output[0].code;
}

/** Serves a page with the bundle. */
async function servePage(code: () => string): Promise<Server> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript
        ? code()
        : '<!doctype html><link rel="icon" href="data:,"><script src="/page.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe.skipIf(skipped)(`the client in a page of another origin${skipped}`, () => {
  let code: string;
  let page: Server;
  let place: Place;
  let browser: Browser;
  let user: TestUser;
  let tab: Tab;
  const addressOf = (host: string) => `http://${host}:${(page.address() as AddressInfo).port}`;
  /** Runs an expression in the page with a client of the service. */
  const inPage = (expression: string) =>
    tab.page.evaluate(`(async () => {
      const gleaner = createGleanerClient({ url: '${place.deployment.url}', apiKey: '${user.key}', maxAttempts: 1 });
      return ${expression};
    })()`);

  beforeAll(async () => {
    page = await servePage(() => code);
    // A separate host name, because pages on other ports belong to the same site.
    place = await openPlace({ GLEANER_CORS_ORIGINS: addressOf('localhost') });
    code = await bundle(place.folder);
    user = await place.api.createUser(1_000);
    browser = await sharedBrowser();
  });
  beforeEach(async () => {
    tab = await openTab(browser);
    return () => tab.close();
  });
  afterAll(async () => {
    await browser?.disconnect();
    page?.close();
    await place?.close();
  });

  test('needs no module of Node', () => {
    expect(code).not.toMatch(/node:/);
  });

  test('runs a job and reads its file, but cannot save it', async () => {
    await tab.page.goto(addressOf('localhost'));
    const result = (await inPage("await runJob(gleaner, 'barang-1001')")) as { bytes: number };
    expect(result).toEqual({
      status: 'completed',
      bytes: expect.any(Number),
      read: result.bytes,
      saved: expect.stringContaining('TypeError: Saving files needs Node'),
    });
    expect(result.bytes).toBeGreaterThan(0);
    expect(tab.pageErrors).toEqual([]);
  });

  test('reads the problems of an invalid request', async () => {
    await tab.page.goto(addressOf('localhost'));
    expect(
      await inPage("await runJob(gleaner, '').catch(({ status, detail }) => [status, detail])"),
    ).toEqual([422, 'items[0].product_key: Field required']);
  });

  test('is refused by the browser in a page of an origin that is not listed', async () => {
    await tab.page.goto(addressOf('127.0.0.1'));
    expect(await inPage("await runJob(gleaner, 'barang-1001').catch(({ status }) => status)")).toBe(
      0,
    );
    expect(tab.pageErrors.join('\n')).toContain('blocked by CORS policy');
  });
});
