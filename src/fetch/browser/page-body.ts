import type { CDPSession } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';

/** Timeout for serializing a document, in milliseconds. */
export const serializeMs = 5_000;

function tooLarge(maxBytes: number): Fault {
  return new Fault('page_too_large', `the rendered page is larger than ${maxBytes} bytes`);
}

/**
 * Returns an element whose HTML has the open shadow roots below it: the element itself if there are
 * none, otherwise a copy in a document without scripts, with the contents of each root before the
 * children of its host.
 */
const withShadowRoots = `(root) => {
  const elements = root?.getElementsByTagName('*') ?? [];
  if (!Array.prototype.some.call(elements, ({ shadowRoot }) => shadowRoot)) return root;
  const inert = document.implementation.createHTMLDocument('');
  const copies = [[root, inert.importNode(root)]];
  const result = copies[0][1];
  for (const [node, copy] of copies)
    for (const child of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) {
      const childCopy = inert.importNode(child, child instanceof HTMLTemplateElement);
      copy.appendChild(childCopy);
      copies.push([child, childCopy]);
    }
  return result;
}`;

/**
 * Serializes the current document of a frame in UTF-8. It runs in an isolated world, which the
 * page's scripts cannot manipulate. Rejects with `page_too_large` or `page_unreadable`.
 */
export async function serializeDocument(
  cdp: CDPSession,
  frameId: string,
  maxBytes: number,
): Promise<Buffer> {
  const { executionContextId } = await cdp.send('Page.createIsolatedWorld', { frameId });
  const expression = `(() => {
    const html = (${withShadowRoots})(document.documentElement)?.outerHTML ?? '';
    return html.length > ${maxBytes} ? null : (document.doctype ? '<!DOCTYPE html>' : '') + html;
  })()`;
  const { result } = await cdp.send('Runtime.evaluate', {
    contextId: executionContextId,
    expression,
    returnByValue: true,
    timeout: serializeMs,
  });
  if (result.subtype === 'null') throw tooLarge(maxBytes);
  if (typeof result.value !== 'string')
    throw new Fault('page_unreadable', 'the page has no document');
  const body = Buffer.from(result.value, 'utf8');
  if (body.length > maxBytes) throw tooLarge(maxBytes);
  return body;
}

/**
 * Reads the decoded body of a response that the page received. The browser converts text to UTF-8.
 */
export async function readResponseBody(cdp: CDPSession, requestId: string): Promise<Buffer> {
  const { body, base64Encoded } = await cdp.send('Network.getResponseBody', { requestId });
  return Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
}
