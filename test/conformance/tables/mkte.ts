import { MkteService } from '../../../gen/gleaner/mkte/v1/mkte_pb.ts';
import { uuid } from '../matchers.ts';
import type { Marketplace } from '../table.ts';
import { bulkSubmit, fileRetrieve, refusedItem, tasksRetrieve } from './bulk.ts';

const rpc = MkteService.method;
const pages = '/v1/mkte/pdp/bulk';
const searches = '/v1/mkte/search/bulk';

const country = {
  is: 'choice',
  of: ['sg', 'jp', 'us', 'uk', 'de', 'fr', 'au', 'it', 'es', 'ca'],
  absent: 'id',
} as const;
const page = (digits: string, at: string) => ({ asin: `B0GLN77${digits}`, country: at });
const search = { list_type: 'search', keyword: 'desk  lamp 77001', country: 'uk', pages: 1 };
const category = {
  list_type: 'category',
  keyword: '77003',
  category: '77003',
  country: 'jp',
  pages: 1,
};
const gone = { ...search, keyword: 'lamp 77800' };

/** Marketplace E: 4 endpoints. */
export const mkte: Marketplace = {
  name: 'mkte',
  jobs: {
    'e pages': {
      submit: `${pages}/submit`,
      body: { items: [page('001', 'us'), page('002', 'de'), page('800', 'us')] },
      ends: true,
    },
    'e searches': {
      submit: `${searches}/submit`,
      body: { items: [search, category, gone] },
      ends: true,
    },
  },
  endpoints: [
    bulkSubmit({
      path: `${pages}/submit`,
      method: rpc.submitPdpBulk,
      price: 5,
      most: 2_000,
      fields: { asin: { is: 'id', digits: false }, country },
      items: [page('001', 'us'), page('002', 'de')],
      more: [
        refusedItem(
          'an ASIN that is too short',
          { asin: 'B0GLN', country: 'us' },
          'asin',
          'string_pattern_mismatch',
        ),
      ],
    }),
    fileRetrieve(
      { path: `${pages}/retrieve/{job_id}`, method: rpc.retrievePdpBulk, foreign: '{e searches}' },
      { 'e pages': ['partial_complete', 3, 2, 1] },
      'mkte_pdp_*.jsonl.gz',
    ),
    bulkSubmit({
      path: `${searches}/submit`,
      method: rpc.submitSearchBulk,
      price: 6,
      most: 50,
      fields: {
        list_type: { is: 'choice', of: ['search', 'category'], absent: 'shop' },
        keyword: { is: 'id', digits: false },
        country,
        pages: { is: 'integer', least: 0, optional: true },
      },
      items: [search, category],
      beside: {
        items: [search, category].map(({ keyword, list_type }) => ({
          task_id: uuid,
          keyword,
          list_type,
          status: 'pending',
        })),
      },
      more: [
        refusedItem(
          'a category without its node',
          { ...category, category: undefined },
          'category',
          'missing',
        ),
      ],
    }),
    tasksRetrieve(
      {
        path: `${searches}/retrieve/{job_id}`,
        method: rpc.retrieveSearchBulk,
        foreign: '{e pages}',
      },
      {
        'e searches': [
          [{ keyword: 'desk_lamp_77001_1', list_type: 'search' }, true],
          [{ keyword: '77003_2', list_type: 'category' }, true],
          [{ keyword: 'lamp_77800_3', list_type: 'search' }, false],
        ],
      },
      'mkte_search_bulk_*.json',
    ),
  ],
};
