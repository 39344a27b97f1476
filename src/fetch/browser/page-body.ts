import type { CDPSession } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';

/** Timeout for serializing a document, in milliseconds. */
export const serializeMs = 5_000;

function tooLarge(maxBytes: number): Fault {
  return new Fault('page_too_large', `the rendered page is larger than ${maxBytes} bytes`);
}

/**
 * Serializes the current document of a frame in UTF-8. It runs in an isolated world, which the page's scripts
 * cannot manipulate. Rejects with `page_too_large` or `page_unreadable`.
 */
export async function serializeDocument(cdp: CDPSession, frameId: string, maxBytes: number): Promise<Buffer> {
  const { executionContextId } = await cdp.send('Page.createIsolatedWorld', { frameId });
  const expression = `(() => {
    const html = document.documentElement?.outerHTML ?? '';
    return html.length > ${maxBytes} ? null : (document.doctype ? '<!DOCTYPE html>' : '') + html;
  })()`;
  const { result } = await cdp.send('Runtime.evaluate', {
    contextId: executionContextId,
    expression,
    returnByValue: true,
    timeout: serializeMs,
  });
  if (result.subtype === 'null') throw tooLarge(maxBytes);
  if (typeof result.value !== 'string') throw new Fault('page_unreadable', 'the page has no document');
  const body = Buffer.from(result.value, 'utf8');
  if (body.length > maxBytes) throw tooLarge(maxBytes);
  return body;
}

/** Reads the decoded body of a response that the page received. The browser converts text to UTF-8. */
export async function readResponseBody(cdp: CDPSession, requestId: string): Promise<Buffer> {
  const { body, base64Encoded } = await cdp.send('Network.getResponseBody', { requestId });
  return Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
}
