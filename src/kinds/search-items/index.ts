import type { Kind } from '../kind.ts';
import { listingFields, listingFile } from '../listing.ts';
import { pgntKind } from '../pgnt.ts';

/** Items of search and category pages. */
export const searchItems: Kind = pgntKind({
  name: 'search_items',
  page: 'search',
  files: { unit: listingFile },
  resultFields: listingFields,
});
