import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Exchange } from '../../../gateway/request-context.ts';
import {
  createPublicContent,
  keepContent,
  sendPublicContent,
} from '../../../gateway/response/public-content.ts';
import { loadOnce } from '../../base/on-demand.ts';
import { packageUrl } from '../../base/package-folder.ts';
import { Fault } from '../../contract/fault.ts';
import { placePage } from './console.ts';
import { markCurrent, withAbsoluteLinks } from './docs-header.ts';

// The page is built with the console; deploy/console.mjs copies the renderer of the interactive
// reference beside it.
const built = packageUrl('console/dist/');

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

const page = 'text/html; charset=utf-8';
const renderer = keepContent(
  () => '',
  async () =>
    createPublicContent('text/javascript; charset=utf-8', await readBuilt('reference/scalar.js')),
);

const headersOf = (styles: string) => ({
  'content-security-policy': policy(styles),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});

/** Returns a built page with its addresses below a path. */
const readPage = async (name: string, basePath: string): Promise<string> =>
  placePage((await readBuilt(name)).toString(), basePath);

/**
 * Creates the handler of the API reference, a page over the OpenAPI documents, below the path of
 * the public address. It throws `not_found` without a build of the console.
 */
export function createDocs(basePath: () => string): (exchange: Exchange) => Promise<void> {
  const readReference = keepContent(basePath, async () =>
    createPublicContent(page, await readPage('reference.html', basePath())),
  );
  return async (exchange) =>
    sendPublicContent(exchange, await readReference(), headersOf("'self'"));
}

/**
 * Creates the handler of the user documentation, which looks like the API reference. The renderer
 * is loaded with the first page.
 */
export function createDocsGuide(
  basePath: () => string,
): (exchange: Exchange, segments: readonly string[]) => Promise<void> {
  const openGuide = loadOnce(async () => {
    const { createGuide } = await import('./guide/guide.ts');
    return createGuide({
      basePath,
      readReference: () => readPage('reference.html', basePath()),
      headers: headersOf("'self'"),
    });
  });
  return async (exchange, segments) => {
    const guide = await openGuide();
    await guide(exchange, segments.slice(segments.indexOf('guide') + 1).join('/'));
  };
}

/**
 * Creates the handler of the interactive reference at `try`, which is Scalar over the OpenAPI
 * documents with the header of the API reference, and of its script. Nothing is loaded from other
 * origins. It throws `not_found` for any other name, and without a build of the console.
 */
export function createInteractiveDocs(
  basePath: () => string,
): (exchange: Exchange, name: string) => Promise<void> {
  const readTry = keepContent(basePath, async () => {
    const reference = await readPage('reference.html', basePath());
    const text = await readPage('try.html', basePath());
    return createPublicContent(page, placeHeader(text, reference, basePath()));
  });
  return async (exchange, name) => {
    if (name !== 'try' && name !== 'scalar.js')
      throw new Fault('not_found', 'The documentation has no such file');
    const isPage = name === 'try';
    const content = await (isPage ? readTry() : renderer());
    // The renderer sets inline styles on elements that it creates from text.
    await sendPublicContent(exchange, content, {
      ...headersOf("'self' 'unsafe-inline'"),
      ...(isPage ? {} : { 'cache-control': 'max-age=86400' }),
    });
  };
}

/** Puts the header of the API reference into a page of the same path. */
function placeHeader(text: string, reference: string, basePath: string): string {
  const [header = ''] = /<header>[\s\S]*?<\/header>/.exec(reference) ?? [];
  return text.replace('<header></header>', () =>
    markCurrent(withAbsoluteLinks(header, basePath), `${basePath}/docs/try`),
  );
}

async function readBuilt(name: string): Promise<Buffer> {
  try {
    return await readFile(fileURLToPath(new URL(name, built)));
  } catch (cause) {
    const reason =
      'The API reference is built with the console, within a minute of the first start. ' +
      'If the build fails, run npm run setup.';
    throw new Fault('not_found', reason, { cause });
  }
}
