import { optionalHost, patternForm, searchForm, textForm } from '../id-form.ts';
import type { IdForms } from '../market.ts';

/** Forms of ids. */
export const ids: IdForms = {
  product: patternForm(
    '<shop domain>/<product key>, or its address',
    new RegExp(`${optionalHost}(?<shop_domain>[^/?#]+)/(?<product_key>[^/?#]+)(?:[?#]|$)`),
  ),
  search: searchForm,
  merchant: textForm('shopid', 'the number or the name of a shop'),
};
