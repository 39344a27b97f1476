import { Fault } from '../../contract/fault.ts';
import type { HtmlPage } from '../html/html.ts';

/**
 * Throws `page_unreadable` for a page that is cut off: it has the tag of its head, but closes
 * neither its body nor itself, as pages that leave out these tags leave out all of them. Also for
 * two pages in one response. `what` names the expected content.
 */
export function checkWhole(html: string, { root }: HtmlPage, what: string): void {
  const isCut = /<\/?head[\s>]/i.test(html) && !/<\/(?:body|html)\s*>/i.test(html);
  if (isCut)
    throw new Fault('page_unreadable', `${what} is cut off after ${html.length} characters`);
  const pages = root.children.filter((node) => 'attribs' in node && node.name === 'html');
  if (pages.length > 1)
    throw new Fault('page_unreadable', `the response has ${pages.length} pages instead of ${what}`);
}
