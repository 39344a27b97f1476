import { MktbService } from '../../../gen/gleaner/mktb/v1/mktb_pb.ts';
import { like } from '../matchers.ts';
import type { Marketplace } from '../table.ts';
import { bulkSubmit, fileRetrieve, refusedItem, tasksRetrieve } from './bulk.ts';

const rpc = MktbService.method;
const pages = '/v1/mktb/pdp/bulk';
const searches = '/v1/mktb/search/bulk';
const shops = '/v1/mktb/merchant/bulk';

const page = (key: string) => ({ product_key: `lampu-${key}`, shop_domain: 'toko-74' });
const search = { keyword: 'lampu 702', product_limit: 5 };
const category = {
  list_type: 'category',
  keyword: '7400702',
  category: 'rumah-tangga',
  pmin: 1000,
};

const text = { is: 'text' } as const;

/** Marketplace B: 6 endpoints. */
export const mktb: Marketplace = {
  name: 'mktb',
  jobs: {
    'b pages': {
      submit: `${pages}/submit`,
      body: { items: [page('1'), page('2'), page('800')] },
      ends: true,
    },
    'b pages gone': { submit: `${pages}/submit`, body: { items: [page('800')] }, ends: true },
    'b searches': { submit: `${searches}/submit`, body: { items: [search, category] }, ends: true },
    'b shops': {
      submit: `${shops}/submit`,
      body: { items: [{ shopid: '74701' }, { shopid: '74800' }] },
      ends: true,
    },
    'b shops gone': {
      submit: `${shops}/submit`,
      body: { items: [{ shopid: '74800' }] },
      ends: true,
    },
  },
  endpoints: [
    bulkSubmit({
      path: `${pages}/submit`,
      method: rpc.submitPdpBulk,
      price: 5,
      most: 2_000,
      fields: { product_key: text, shop_domain: text },
      items: [page('1'), page('2')],
    }),
    fileRetrieve(
      { path: `${pages}/retrieve/{job_id}`, method: rpc.retrievePdpBulk, foreign: '{b searches}' },
      { 'b pages': ['partial_complete', 3, 2, 1], 'b pages gone': ['failed', 1, 0, 1] },
      'mktb_pdp_*.jsonl.gz',
      { 'cache-control': like(/^private, max-age=\d+$/) },
    ),
    bulkSubmit({
      path: `${searches}/submit`,
      method: rpc.submitSearchBulk,
      price: 6,
      most: 50,
      fields: {
        list_type: { is: 'choice', of: ['search', 'category'], absent: 'shop', optional: true },
        keyword: { is: 'id', digits: false },
        pmin: { is: 'integer', least: 0, optional: true },
        product_limit: { is: 'integer', least: 1, optional: true },
      },
      items: [search, category],
      more: [
        refusedItem(
          'a category without a slug',
          { ...category, category: undefined },
          'category',
          'missing',
        ),
        refusedItem(
          'a category by name',
          { ...category, keyword: 'lampu' },
          'keyword',
          'value_error',
        ),
        refusedItem(
          'a category with an empty slug',
          { ...category, category: '' },
          'category',
          'missing',
        ),
        {
          ...refusedItem(
            'a list as the slug',
            { ...category, category: [1] },
            'category',
            'string_type',
          ),
          restOnly: true,
        },
      ],
    }),
    tasksRetrieve(
      {
        path: `${searches}/retrieve/{job_id}`,
        method: rpc.retrieveSearchBulk,
        foreign: '{b pages}',
      },
      {
        'b searches': [
          [{ keyword: 'lampu 702', list_type: 'search' }, true],
          [{ keyword: '7400702', list_type: 'category' }, true],
        ],
      },
      'mktb_search_bulk_*.json',
    ),
    bulkSubmit({
      path: `${shops}/submit`,
      method: rpc.submitMerchantBulk,
      price: 6,
      most: 50,
      fields: {
        shopid: { is: 'id', digits: false },
        etalase_id: { is: 'id', digits: false, optional: true },
        keyword: { is: 'text', optional: true },
        max_pages: { is: 'integer', least: 1, optional: true },
      },
      items: [
        { shopid: '74701' },
        { shopid: '74002', etalase_id: '5', keyword: 'lampu', max_pages: 1 },
      ],
    }),
    tasksRetrieve(
      {
        path: `${shops}/retrieve/{job_id}`,
        method: rpc.retrieveMerchantBulk,
        foreign: '{b searches}',
      },
      {
        'b shops': [
          [{ shopid: '74701' }, true],
          [{ shopid: '74800' }, false],
        ],
        'b shops gone': [[{ shopid: '74800' }, false]],
      },
      'mktb_merchant_bulk_*.json',
    ),
  ],
};
