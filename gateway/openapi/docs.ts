import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Fault } from '../../src/contract/fault.ts';
import { type Exchange, sendContent } from '../exchange.ts';
import { isCompressible } from '../response/content-encoding.ts';

const folder = () => dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

// Addresses are relative, so that the page works under every path form and behind a prefix.
const htmlOf = (title: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<script src="docs/swagger-ui-bundle.js" defer></script>
<script src="docs/start.js" defer></script>
</head>
<body><div id="docs"></div></body>
</html>
`;

const start = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'none',
  persistAuthorization: false,
  validatorUrl: null,
});
`;

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const types: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Returns the handler of the page that shows the OpenAPI document; it loads nothing from other origins. */
export function docsPage(title: string): (exchange: Exchange) => void {
  const page = Buffer.from(htmlOf(title));
  return (exchange) => sendFile(exchange, 'text/html; charset=utf-8', page, 'no-cache');
}

/** Serves one of the page's files. Fault: `not_found` for any other name. */
export async function serveDocsFile(exchange: Exchange, name: string): Promise<void> {
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (name === 'start.js') sendFile(exchange, types['swagger-ui-bundle.js']!, Buffer.from(start), 'no-cache');
  else if (type !== undefined)
    sendFile(exchange, type, await readFile(join(folder(), name)), 'max-age=86400');
  else throw new Fault('not_found', 'The documentation has no such file');
}

function sendFile(exchange: Exchange, type: string, content: Buffer, cacheControl: string): void {
  const { response } = exchange;
  response.statusCode = 200;
  response.setHeader('content-type', type);
  response.setHeader('cache-control', cacheControl);
  response.setHeader('content-security-policy', policy);
  response.setHeader('referrer-policy', 'no-referrer');
  sendContent(exchange, content, isCompressible(type));
}
