import { MktcService } from '../../../gen/gleaner/mktc/v1/mktc_pb.ts';
import { like } from '../matchers.ts';
import type { Marketplace } from '../table.ts';
import { bulkSubmit, fileRetrieve, tasksRetrieve } from './bulk.ts';

const rpc = MktcService.method;
const pages = '/v1/mktc/pdp/bulk';
const shops = '/v1/mktc/merchant/bulk';

const page = (key: string) => ({
  formattedId: `ps--GLN-60075-${key}`,
  sku: `GLN-60075-${key}-00001`,
});
const id = { is: 'id', digits: false } as const;
const optional = { is: 'text', optional: true } as const;

/** Marketplace C: 4 endpoints. */
export const mktc: Marketplace = {
  name: 'mktc',
  jobs: {
    'c pages': {
      submit: `${pages}/submit`,
      body: {
        items: [page('10001'), { ...page('10002'), id: 9, pickupPointCode: 'PP-1' }, page('10800')],
      },
      ends: true,
    },
    'c shops': {
      submit: `${shops}/submit`,
      body: { items: [{ shopid: 'GLN-75701' }, { shopid: 'GLN-75800' }] },
      ends: true,
    },
  },
  endpoints: [
    bulkSubmit({
      path: `${pages}/submit`,
      method: rpc.submitPdpBulk,
      price: 5,
      most: 2_000,
      fields: {
        formattedId: id,
        sku: id,
        pickupPointCode: optional,
        id: { ...id, optional: true },
      },
      items: [{ ...page('10001'), pickupPointCode: 'PP-1', id: '9' }, page('10002')],
    }),
    fileRetrieve(
      { path: `${pages}/retrieve/{job_id}`, method: rpc.retrievePdpBulk, foreign: '{c shops}' },
      { 'c pages': ['partial_complete', 3, 2, 1] },
      'mktc_pdp_*.jsonl.gz',
      { 'cache-control': like(/^private, max-age=\d+$/) },
    ),
    bulkSubmit({
      path: `${shops}/submit`,
      method: rpc.submitMerchantBulk,
      price: 6,
      most: 50,
      fields: {
        shopid: id,
        categoryids: { ...id, optional: true },
        keyword: optional,
        brand: optional,
        limit: { is: 'integer', least: 1, optional: true },
      },
      items: [
        { shopid: 'GLN-75701' },
        {
          shopid: 'GLN-75001',
          categoryids: 'LA-1000,LA-1001',
          keyword: 'lampu',
          brand: 'Gleam',
          limit: 3,
        },
      ],
    }),
    tasksRetrieve(
      {
        path: `${shops}/retrieve/{job_id}`,
        method: rpc.retrieveMerchantBulk,
        foreign: '{c pages}',
      },
      {
        'c shops': [
          [{ shopid: 'GLN-75701' }, true],
          [{ shopid: 'GLN-75800' }, false],
        ],
      },
      'mktc_merchant_bulk_*.json',
    ),
  ],
};
