import { patternForm, searchForm } from '../id-form.ts';
import type { IdForms } from '../market.ts';

/** Forms of ids. */
export const ids: IdForms = {
  product: patternForm(
    '<ASIN>, or its address',
    /^(?:https?:\/\/\S*?\/(?:dp|gp\/product)\/)?(?<asin>[A-Z0-9]{10})(?:[/?#]|$)/,
  ),
  search: searchForm,
};
