import type { IdForms } from '../market.ts';

/** Forms of ids: none but addresses, which parseUrl() parses. */
export const ids: IdForms = {
  search: { form: 'the address of a store, a collection or a search', parse: () => null },
};
