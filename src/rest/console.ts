import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import compression from 'compression';
import express, { type RequestHandler } from 'express';

// Compiled, every module is in dist.
const isCompiled = extname(import.meta.url) === '.js';
const built = fileURLToPath(new URL(isCompiled ? '../console/dist' : '../../console/dist', import.meta.url));

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
<title>Gleaner</title>
<p>The console has not been built. Run <code>npm run setup</code> where Gleaner is installed, then load this page again.</p>
</html>
`;

/**
 * Serves the built console under /console: its hashed files, cacheable for a year, and its page for every other path
 * below, so that deep links work. `/` redirects there. Without a build, the page explains how to build it, with
 * status 503.
 */
export function serveConsole(folder = built): RequestHandler {
  const router = express.Router();
  const page: RequestHandler = async (_request, response) => {
    const text = await readFile(join(folder, 'index.html'), 'utf8').catch(() => null);
    const nonce = randomBytes(16).toString('base64url');
    response.set({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(nonce),
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    response.status(text === null ? 503 : 200).send(text?.replace('%STYLE_NONCE%', nonce) ?? missing);
  };
  router.get('/', (_request, response) => response.redirect('/console'));
  router.use('/console', compression());
  router.use(
    '/console/assets',
    express.static(join(folder, 'assets'), {
      immutable: true,
      maxAge: '365d',
      index: false,
      redirect: false,
      setHeaders: (response) => {
        response.setHeader('referrer-policy', 'no-referrer');
        response.setHeader('x-content-type-options', 'nosniff');
      },
    }),
    (_request, _response, next) => next('router'),
  );
  router.get(['/console', '/console/*path'], page);
  return router;
}
