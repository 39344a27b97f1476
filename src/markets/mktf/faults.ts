import { isObject, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { objects } from '../fields.ts';
import { errorMessage, isNotFoundMessage, parseJsonResponse } from '../response.ts';

/**
 * Returns true if a store requires a password for its catalogue: by its message, or by a redirect to the
 * password page.
 */
function isClosed({ status, headers, url }: PageResponse): boolean {
  if (status === 401) return true;
  const toPassword = (address: string | undefined) =>
    URL.parse(address ?? '', url)
      ?.pathname.replace(/\/$/, '')
      .endsWith('/password') ?? false;
  return (status >= 300 && status < 400 && toPassword(headers.location)) || toPassword(url);
}

/**
 * Returns the products of a response unchanged. Throws the faults of parseJsonResponse(), `page_private` for
 * a store that requires a password; `page_not_found` if the store says so; `page_unreadable` for anything but
 * a catalogue. A 404 can also be the response of another shop platform.
 */
export function parseCatalogue(response: PageResponse): JsonObject[] {
  if (isClosed(response)) throw new Fault('page_private', 'the store requires a password');
  const root = parseJsonResponse(response);
  const products = isObject(root) ? root.products : undefined;
  if (!Array.isArray(products)) {
    const words = errorMessage(root);
    if (isNotFoundMessage(words)) throw new Fault('page_not_found', `the store has no such page: ${words}`);
    const said = words === null ? '' : `: ${words}`;
    throw new Fault(
      'page_unreadable',
      `the response is not a store catalogue: it has no list of products${said}`,
    );
  }
  const found = objects(products);
  if (found.length === 0 && products.length > 0) {
    throw new Fault('page_unreadable', "the catalogue's list of products has no products");
  }
  return found;
}
