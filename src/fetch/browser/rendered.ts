import type { CDPSession } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';

/** Longest that a page may take to be written down, in milliseconds. */
const writeMs = 5_000;

function tooLarge(most: number): Fault {
  return new Fault('page_too_large', `the rendered page is larger than ${most} bytes`);
}

/**
 * The document of a frame as it is now, in UTF-8, of at most so many bytes. It is read in a world of its
 * own, where the page's scripts have changed nothing. Faults: `page_too_large`, `page_unreadable`.
 */
export async function rendered(cdp: CDPSession, frameId: string, most: number): Promise<Buffer> {
  const { executionContextId } = await cdp.send('Page.createIsolatedWorld', { frameId });
  const expression = `(() => {
    const html = document.documentElement?.outerHTML ?? '';
    return html.length > ${most} ? null : (document.doctype ? '<!DOCTYPE html>' : '') + html;
  })()`;
  const { result } = await cdp.send('Runtime.evaluate', {
    contextId: executionContextId,
    expression,
    returnByValue: true,
    timeout: writeMs,
  });
  if (result.subtype === 'null') throw tooLarge(most);
  if (typeof result.value !== 'string') throw new Fault('page_unreadable', 'the page has no document');
  const body = Buffer.from(result.value, 'utf8');
  if (body.length > most) throw tooLarge(most);
  return body;
}

/** The body of an answer that the page got, decompressed. Text comes in UTF-8 whatever it was in. */
export async function rawBody(cdp: CDPSession, requestId: string): Promise<Buffer> {
  const { body, base64Encoded } = await cdp.send('Network.getResponseBody', { requestId });
  return Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
}
