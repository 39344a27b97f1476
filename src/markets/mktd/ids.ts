import { patternForm } from '../id-form.ts';
import type { IdForms } from '../market.ts';

/** Forms of ids. */
export const ids: IdForms = {
  product: patternForm(
    '<product id>, or its address',
    /^(?:https?:\/\/\S*?\/)?(?<product_id>\d{10,20})(?:[?#]|$)/,
  ),
};
