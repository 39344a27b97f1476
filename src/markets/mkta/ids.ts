import { patternForm, textForm } from '../id-form.ts';
import type { IdForms } from '../market.ts';

const item = patternForm(
  '<shop id>/<item id>, or its address',
  /^(?<shop_id>[1-9]\d*)[/.](?<item_id>[1-9]\d*)$/,
);

/** Forms of ids. Addresses are parsed by parseUrl(). */
export const ids: IdForms = {
  product: item,
  variants: item,
  search: textForm('keyword', 'a keyword, or the address of a search or category'),
  merchant: patternForm('<shop id>, or its address', /^(?<shop_id>[1-9]\d*)$/),
};
