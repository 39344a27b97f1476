import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler } from 'express';
import { type Exchange, sendMethods } from '../../../gateway/request-context.ts';
import { basePathOf } from '../../../gateway/response/location.ts';
import {
  createPublicContent,
  keepContent,
  type PublicContent,
  sendPublicContent,
} from '../../../gateway/response/public-content.ts';
import { packageUrl } from '../../base/package-folder.ts';

const built = fileURLToPath(packageUrl('console/dist'));

const policy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');

const missing = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="3">
<title>Gleaner</title>
<p>There is no console yet. After the first start of a checkout, it is built within a minute, and this page shows it then. If the build fails, the output of the service says why: run <code>npm run setup</code> where Gleaner is installed.</p>
</html>
`;

/** Media types of the files that a build has. */
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const assetHeaders = {
  'cache-control': 'max-age=31536000, immutable',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Options for serveConsole(). */
export interface ConsoleServing {
  /** Folder of the build. */
  folder?: string;
  /** Returns the public address of the service, whose path is part of every address in the page. */
  publicUrl: () => string;
}

/** Returns a built page with the addresses of its files and of the console below a path. */
export function placePage(text: string, basePath: string): string {
  // A path of a URL contains neither quotes nor angle brackets.
  const path = basePath.replaceAll('&', '&amp;');
  return text
    .replace('%BASE_PATH%', () => path)
    .replaceAll(
      / (href|src)="\.\/assets\//g,
      (_, name: string) => ` ${name}="${path}/console/assets/`,
    )
    .replaceAll(' href="/console"', () => ` href="${path}/console"`);
}

/** Reads a file of the build, with its brotli encoding if the build has made one. */
async function readAsset(path: string, type: string): Promise<PublicContent> {
  const [bytes, br] = await Promise.all([
    readFile(path),
    readFile(`${path}.br`).catch(() => undefined),
  ]);
  return createPublicContent(type, bytes, br && { br });
}

/**
 * Serves the built console under /console: its hashed files, cacheable for a year, and its page for
 * every other path below, so that deep links work. `/` redirects there. Without a build, the page
 * explains how to build it, with status 503. The page is the same until the process ends, with its
 * nonce for styles, so that browsers can revalidate it.
 */
export function serveConsole({ folder = built, publicUrl }: ConsoleServing): RequestHandler {
  const basePath = () => basePathOf(publicUrl());
  const router = express.Router();
  const nonce = randomBytes(16).toString('base64url');
  const pageHeaders = {
    'content-security-policy': policy(nonce),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
  const readPage = keepContent(basePath, async () => {
    const text = await readFile(join(folder, 'index.html'), 'utf8');
    const page = placePage(text, basePath()).replace('%STYLE_NONCE%', nonce);
    return createPublicContent('text/html; charset=utf-8', page);
  });
  const page: RequestHandler = async (_request, response) => {
    const content = await readPage().catch(() => null);
    if (content !== null)
      return sendPublicContent(response.locals.exchange as Exchange, content, pageHeaders);
    response
      .set({ ...pageHeaders, 'cache-control': 'no-store' })
      .status(503)
      .type('html')
      .send(missing);
  };
  router.get('/', (_request, response) => response.redirect(`${basePath()}/console`));
  const assets = new Map<string, () => Promise<PublicContent>>();
  router.get('/console/assets/:name', async (request, response, next) => {
    const { name } = request.params;
    const type = contentTypes[extname(name)];
    if (!/^[\w-][\w.-]*$/.test(name) || type === undefined) return next('router');
    const read =
      assets.get(name) ??
      keepContent(
        () => '',
        () => readAsset(join(folder, 'assets', name), type),
      );
    const content = await read().catch(() => null);
    if (content === null) return next('router');
    assets.set(name, read);
    await sendPublicContent(response.locals.exchange as Exchange, content, assetHeaders);
  });
  router.use('/console/assets', (_request, _response, next) => next('router'));
  router.get(['/console', '/console/*path'], page);
  router.all(['/', '/console', '/console/*path'], (_request, response) =>
    sendMethods(response.locals.exchange as Exchange, ['GET']),
  );
  return router;
}
