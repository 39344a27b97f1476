import type { JsonObject } from '../../../src/base/json.ts';
import type { ReadContext } from '../../../src/markets/market.ts';
import { variants } from '../../../src/markets/mkta/product.ts';
import { stallingItem } from './stalling-item.ts';
import '../../../src/app/page-worker.ts';

/*
 * A page worker with a reader that never ends on the page of one item, in place of a fault that
 * nobody knows.
 */

const { read } = variants;
Object.assign(variants, {
  read: (input: JsonObject, context: ReadContext) => {
    if (input.item_id !== stallingItem) return read(input, context);
    return context.fetch({ path: '/stall' }).then(() => {
      for (;;);
    });
  },
});
