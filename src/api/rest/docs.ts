import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Exchange } from '../../../gateway/request-context.ts';
import {
  createPublicContent,
  keepContent,
  type PublicContent,
  sendPublicContent,
} from '../../../gateway/response/public-content.ts';
import { packageUrl } from '../../base/package-folder.ts';
import { Fault } from '../../contract/fault.ts';
import { placePage } from './console.ts';
import type { Guide } from './guide/guide.ts';

// The page is built with the console; deploy/console.mjs copies the renderer of the interactive
// reference beside it.
const built = packageUrl('console/dist/');

// Addresses are relative, so that the page works under every path form and behind a prefix.
const interactive = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Interactive API reference · Gleaner</title>
<link rel="icon" href="data:,">
<script src="settings.js" defer></script>
<script src="scalar.js" defer></script>
<script src="start.js" defer></script>
</head>
<body><noscript>The API reference needs JavaScript. The same is in <a href="../openapi.json">openapi.json</a>.</noscript>
<div id="docs"></div></body>
</html>
`;

/** Keeps the schema library of the renderer from compiling code, which the policy forbids. */
const settings = 'globalThis.__zod_globalConfig = { jitless: true };\n';

/**
 * Languages and HTTP clients that are not offered: the page shows curl, fetch, and requests, and
 * the OpenAPI document adds TypeScript.
 */
const hiddenClients = {
  ...Object.fromEntries(
    [
      'c',
      'clojure',
      'csharp',
      'dart',
      'fsharp',
      'go',
      'http',
      'java',
      'kotlin',
      'node',
      'objc',
      'ocaml',
      'php',
      'powershell',
      'r',
      'ruby',
      'rust',
      'swift',
    ].map((target) => [target, true]),
  ),
  shell: ['httpie', 'wget'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
};

const start = `Scalar.createApiReference('#docs', {
  sources: [
    { title: 'Gleaner API', slug: 'api', url: '../openapi.json', default: true },
    { title: 'Operator API', slug: 'operator', url: '../openapi-operator.json' },
  ],
  authentication: { preferredSecurityScheme: 'bearer' },
  persistAuth: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: ${JSON.stringify(hiddenClients)},
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  agent: { disabled: true },
  mcp: { disabled: true },
});
`;

const policy = (styles: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const script = 'text/javascript; charset=utf-8';
const page = 'text/html; charset=utf-8';
const keep = (read: () => Promise<PublicContent>) => keepContent(() => '', read);
const files = new Map([
  ['try', keep(async () => createPublicContent(page, interactive))],
  ['settings.js', keep(async () => createPublicContent(script, settings))],
  ['start.js', keep(async () => createPublicContent(script, start))],
  [
    'scalar.js',
    keep(async () => createPublicContent(script, await readBuilt('reference/scalar.js'))),
  ],
]);

const headersOf = (styles: string) => ({
  'content-security-policy': policy(styles),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});

/**
 * Creates the handler of the API reference, a page over the OpenAPI documents, below the path of
 * the public address. It throws `not_found` without a build of the console.
 */
export function createDocs(basePath: () => string): (exchange: Exchange) => Promise<void> {
  const readPage = keepContent(basePath, async () => {
    const text = await readBuilt('reference.html');
    return createPublicContent(page, placePage(text.toString(), basePath()));
  });
  return async (exchange) => sendPublicContent(exchange, await readPage(), headersOf("'self'"));
}

/**
 * Creates the handler of the user documentation, which looks like the API reference. The renderer
 * is loaded with the first page.
 */
export function createDocsGuide(
  basePath: () => string,
): (exchange: Exchange, segments: readonly string[]) => Promise<void> {
  let guide: Promise<Guide> | undefined;
  const open = async (): Promise<Guide> =>
    (await import('./guide/guide.ts')).createGuide({
      basePath,
      readReference: async () =>
        placePage((await readBuilt('reference.html')).toString(), basePath()),
      headers: headersOf("'self'"),
    });
  return async (exchange, segments) => {
    guide ??= open();
    await (await guide)(exchange, segments.slice(segments.indexOf('guide') + 1).join('/'));
  };
}

/**
 * Serves the interactive reference at `try`, which is Scalar over the OpenAPI documents, or one of
 * its scripts. Nothing is loaded from other origins. Throws `not_found` for any other name, and
 * without a build of the console.
 */
export async function serveDocsFile(exchange: Exchange, name: string): Promise<void> {
  const content = files.get(name);
  if (content === undefined) throw new Fault('not_found', 'The documentation has no such file');
  const caching = name === 'scalar.js' ? { 'cache-control': 'max-age=86400' } : {};
  // The renderer sets inline styles on elements that it creates from text.
  await sendPublicContent(exchange, await content(), {
    ...headersOf("'self' 'unsafe-inline'"),
    ...caching,
  });
}

async function readBuilt(name: string): Promise<Buffer> {
  try {
    return await readFile(fileURLToPath(new URL(name, built)));
  } catch (cause) {
    throw new Fault('not_found', 'The API reference has not been built: run npm run setup', {
      cause,
    });
  }
}
