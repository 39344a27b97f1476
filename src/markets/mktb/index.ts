import { quote } from '../../contract/problem-texts.ts';
import type { Market } from '../market.ts';
import { listedFields, tracked } from './fields.ts';
import { ids, samples } from './ids.ts';
import { merchant } from './merchant.ts';
import { product } from './product.ts';
import { search } from './search.ts';
import { isCategory } from './search-query.ts';

/** Marketplace B. */
export const mktb: Market = {
  name: 'mktb',
  regions: ['id'],
  readers: { product, search, merchant },
  listedFields,
  ids,
  samples,
  tracked,
  // A category is identified by its number.
  problemOf: (input) => {
    const keyword = String(input.keyword);
    if (!isCategory(input) || /^[0-9]{1,19}$/.test(keyword)) return null;
    return { name: 'keyword', msg: `Value is not the number of a category: ${quote(keyword)}` };
  },
};
