import type { DescMessage } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SubmitGetPcRequestSchema } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { PdpItemSchema as B } from '../../gen/gleaner/mktb/v1/mktb_pb.ts';
import {
  PdpItemSchema as C,
  SubmitPdpBulkRequestSchema,
} from '../../gen/gleaner/mktc/v1/mktc_pb.ts';
import { PdpItemSchema as D } from '../../gen/gleaner/mktd/v1/mktd_pb.ts';
import { PdpItemSchema as E } from '../../gen/gleaner/mkte/v1/mkte_pb.ts';
import { parseItemText } from './item-text.ts';

const A = SubmitGetPcRequestSchema;
const toko = { shop_domain: 'toko-7', product_key: 'barang-1' };
const tee = { product_id: '1729000076001' };
const sku = { formattedId: 'ps--GLN-1-2', sku: 'GLN-1-2-3' };

const cases: [DescMessage, text: string, fields: Record<string, string> | null][] = [
  [A, 'https://a.example.co.id/Lampu-i.7.42?sp=1', { region: 'id', shop_id: '7', item_id: '42' }],
  [A, ' https://a.example.com.my/product/7/42/ ', { region: 'my', shop_id: '7', item_id: '42' }],
  [A, 'https://a.example.com/-i.7.42', { shop_id: '7', item_id: '42' }],
  [A, '7/42', { shop_id: '7', item_id: '42' }],
  [A, 'https://market.sg/-i.7.42', { region: 'sg', shop_id: '7', item_id: '42' }],
  [A, 'https://market.de/-i.7.42', null],
  [A, 'https://a.example.sg/shop/7', null],
  [B, 'https://www.tokopedia.com/toko-7/barang-1?src=x', toko],
  [B, 'https://m.tokopedia.com/toko-7/barang-1', toko],
  [B, 'http://tokopedia.com/toko-7/barang-1#reviews', toko],
  [B, 'toko-7/barang-1', toko],
  [B, 'tokopedia.com/toko-7/barang-1', toko],
  [B, 'tokopedia.com/toko-7', null],
  [B, 'shop.example/barang-1', null],
  [B, 'https://www.tokopedia.com/toko-7', null],
  [B, 'https://shop.example/toko-7/barang-1', null],
  [B, 'https://shop.example/www.tokopedia.com/barang-1', null],
  [B, 'https://tokopedia.com.shop.example/toko-7/barang-1', null],
  [B, 'https://www.tokopedia.com@shop.example/toko-7/barang-1', null],
  [B, 'https://nottokopedia.com/toko-7/barang-1', null],
  [
    C,
    'https://c.example/p/x/ps--GLN-1-2?pickupPointCode=PP-1&ds=GLN-1-2-3#x',
    { ...sku, pickupPointCode: 'PP-1' },
  ],
  [C, 'https://c.example/p/x/ps--GLN-1-2?ads=1&ds=GLN-1-2-3', sku],
  [C, 'ps--GLN-1-2', { formattedId: 'ps--GLN-1-2' }],
  [C, 'https://www.blibli.com/p/x/ps--GLN-1-2?ds=GLN-1-2-3', sku],
  [C, 'https://www.market.co.id/p/x/ps--GLN-1-2?ds=GLN-1-2-3', null],
  [C, 'https://blibli.com.market.id/p/x/ps--GLN-1-2', null],
  [C, 'https://c.example/p/x', null],
  [D, 'https://d.example/view/product/1729000076001?region=TH', { product_id: '1729000076001' }],
  [D, 'https://www.tiktok.com/shop/my/pdp/1729000076001?region=MY', tee],
  [D, 'https://shop.tiktok.com/my/pdp/tee/1729000076001', tee],
  [D, 'https://shop-id.tokopedia.com/view/product/1729000076001', tee],
  [D, 'https://www.tokopedia.com/toko-7/1729000076001', null],
  [D, 'https://market.de/p/1729000076001', null],
  [D, 'https://www.tiktok.com@market.de/p/1729000076001', null],
  [D, '1729000076001', { product_id: '1729000076001' }],
  [D, 'lamp', null],
  [
    E,
    'https://www.e.example.co.jp/Lamp/dp/B0GLN01001/ref=x',
    { country: 'jp', asin: 'B0GLN01001' },
  ],
  [E, 'https://www.e.example.com/gp/product/B0GLN01001', { asin: 'B0GLN01001' }],
  [E, 'https://www.amazon.co.uk/Lamp/dp/B0GLN01001', { country: 'uk', asin: 'B0GLN01001' }],
  [E, 'https://www.amazon.com/dp/B0GLN01001?th=1', { asin: 'B0GLN01001' }],
  [E, 'https://www.amazon.nl/dp/B0GLN01001', null],
  [E, 'https://www.notamazon.de/dp/B0GLN01001', null],
  [E, 'http://127.0.0.1:4000/dp/B0GLN01001', { asin: 'B0GLN01001' }],
  [E, 'https://shop.test/dp/B0GLN01001', { asin: 'B0GLN01001' }],
  [E, 'B0GLN01001', { asin: 'B0GLN01001' }],
  [E, 'amazon.de/dp/B0GLN01001', { country: 'de', asin: 'B0GLN01001' }],
  [E, 'Amazon.co.uk/dp/B0GLN01001', { country: 'uk', asin: 'B0GLN01001' }],
  [E, 'market.de/dp/B0GLN01001', null],
  [E, 'B0GLN0100', null],
  [SubmitPdpBulkRequestSchema, 'toko-7/barang-1', null],
];

test.each(cases)(
  'parseItemText(%o, %j) returns the fields of the item',
  (message, text, fields) => {
    expect(parseItemText(message, text)).toEqual(fields);
  },
);
