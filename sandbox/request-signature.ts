import type { OriginReply, OriginRequest } from './origin.ts';
import { hash } from './random.ts';

/**
 * Header that a page's scripts compute for every request. The sites' own headers have other names.
 */
const header = 'x-page-seal';

function visitorOf(request: OriginRequest): string | undefined {
  return /(?:^|; )visitor=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
}

/**
 * Returns true if a request was sent by the scripts of a page for the visitor that received the
 * page.
 */
export function isSigned(request: OriginRequest): boolean {
  const visitor = visitorOf(request);
  const { pathname, search } = request.url;
  return (
    visitor !== undefined &&
    request.headers[header] === hash(visitor + pathname + search).toString(16)
  );
}

/**
 * Source of `ask(path, init)` for a page's scripts, which sends a request with the visitor's seal.
 */
const script = `
const visitor = /visitor=(\\w+)/.exec(document.cookie)?.[1] ?? '';
const seal = (text) => {
  let value = 0x811c9dc5;
  for (const letter of text) value = Math.imul(value ^ letter.charCodeAt(0), 0x01000193);
  return (value >>> 0).toString(16);
};
const ask = (path, init = {}) => {
  const { pathname, search } = new URL(path, location.href);
  return fetch(path, { ...init, headers: { ...init.headers, '${header}': seal(visitor + pathname + search) } });
};
`;

/**
 * Returns a page whose scripts can call `ask`. A cookie identifies the visitor from the first page
 * on.
 */
export function signedPage(
  request: OriginRequest,
  title: string,
  body: string,
  code: string,
): OriginReply {
  const headers: Record<string, string> = { 'content-type': 'text/html; charset=utf-8' };
  if (visitorOf(request) === undefined) {
    const visitor = hash(`${request.url.href} visitor`).toString(16);
    headers['set-cookie'] = `visitor=${visitor}; Path=/`;
  }
  return {
    status: 200,
    headers,
    body: `<!doctype html><html><head><title>${title}</title></head><body><div id="root">${body}</div>
<script type="module">${script}${code}</script></body></html>`,
  };
}
