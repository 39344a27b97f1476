import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { errorResponse } from '../errors.ts';
import { having, like, positive, text, uuid } from '../matchers.ts';
import { refusedQuery } from '../pages.ts';
import type { Case, Endpoint, Prepared } from '../table.ts';

const rpc = MktaService.method;
const searches = '/v1/mkta/search-items';
const shops = '/v1/mkta/merchant-items';

const search = (digits: string) => `https://mkta.example.co.id/search?keyword=lampu%20${digits}`;
const longSearch = (length: number) => search('006').padEnd(length, 'x');
const category = 'https://mkta.example.vn/Gia-dung-cat.11036.11036006';
const shop = (digits: string) => `https://mkta.example.com.my/shop/7300${digits}`;

/** Prepared jobs of listings. */
export const jobs: Record<string, Prepared> = {
  'searches waiting': {
    submit: `${searches}/submit`,
    body: { urls: [search('006')] },
    ends: false,
  },
  'searches done': {
    submit: `${searches}/submit`,
    body: { urls: [search('006'), search('800')] },
    decide: 'approve',
    ends: true,
  },
  'searches rejected': {
    submit: `${searches}/submit`,
    body: { urls: [search('006')] },
    decide: 'reject',
    ends: true,
  },
  'shops done': {
    submit: `${shops}/submit`,
    body: { urls: [shop('000')] },
    decide: 'approve',
    ends: true,
  },
  'shops failed': {
    submit: `${shops}/submit`,
    body: { urls: [shop('800')] },
    decide: 'approve',
    ends: true,
  },
};

const submitted = (type: string, urls: number) => ({
  job_id: uuid,
  task_type: type,
  status: 'awaiting_approval',
  cost: urls * 6,
  total_urls: urls,
});

const accepted = (title: string, type: string, urls: string[]): Case => ({
  title,
  body: { urls },
  status: 202,
  response: submitted(type, urls.length),
});

const refused = (title: string, beside: string, url: string): Case => ({
  title,
  body: { urls: [beside, url] },
  status: 422,
  problems: [[['body', 'urls', 1], 'url_parsing']],
});

const submitSearches: Endpoint = {
  verb: 'POST',
  path: `${searches}/submit`,
  method: rpc.submitSearchItems,
  submit: { takes: 'urls', most: 50, price: 6 },
  cases: [
    accepted('searches', 'search', [search('006'), search('007')]),
    accepted('a category', 'category', [category]),
    accepted('a search and a category', 'search', [search('006'), category]),
    accepted('the same URL twice', 'category', [category, category]),
    refused('a text that is not a URL', search('006'), 'lampu'),
    refused('a shop', search('006'), shop('000')),
    refused('no keyword', search('006'), 'https://mkta.example.co.id/search?q=lampu'),
    refused('an unknown region', search('006'), 'https://mkta.example.de/search?keyword=lampu'),
    refused('a category without a number', search('006'), 'https://mkta.example.vn/Gia-dung-cat.x'),
    refused('another scheme', search('006'), 'ftp://mkta.example.vn/search?keyword=lampu'),
    {
      title: 'a URL of 4,096 characters',
      body: { urls: [longSearch(4_096)] },
      status: 202,
      response: submitted('search', 1),
    },
    {
      title: 'a URL of more than 4,096 characters',
      body: { urls: [search('006'), longSearch(4_097)] },
      status: 422,
      problems: [[['body', 'urls', 1], 'string_too_long']],
    },
    {
      title: 'all invalid URLs are listed',
      body: { urls: ['', search('006'), 'x'] },
      status: 422,
      problems: [
        [['body', 'urls', 0], 'url_parsing'],
        [['body', 'urls', 2], 'url_parsing'],
      ],
    },
  ],
};

const dataPath = like(/^\/v1\/mkta\/pgnt\/jobs\/[0-9a-f-]{36}\/items\/[\w-]+\/data$/);

const retrieved = (
  job: string,
  type: string,
  status: string,
  progress: string,
  items: unknown[],
): Case => ({
  title: job,
  params: { job_id: `{${job}}` },
  status: 200,
  response: { job_id: uuid, task_type: type, status, progress, items },
});

const retrieveSearches: Endpoint = {
  verb: 'GET',
  path: `${searches}/retrieve/{job_id}`,
  method: rpc.retrieveSearchItems,
  names: { param: 'job_id', id: 'uuid', foreign: '{shops done}' },
  cases: [
    retrieved('searches done', 'search', 'partial_complete', '2/2 URLs complete', [
      { url: search('006'), status: 'SUCCESS', download_url: dataPath },
      { url: search('800'), status: 'FAILED', error: text },
    ]),
    retrieved('searches waiting', 'search', 'awaiting_approval', '0/1 URLs complete', [
      { url: search('006'), status: 'PENDING' },
    ]),
    retrieved('searches rejected', 'search', 'rejected', '1/1 URLs complete', [
      { url: search('006'), status: 'FAILED', error: like(/rejected.*Too expensive\./) },
    ]),
  ],
};

const submitShops: Endpoint = {
  verb: 'POST',
  path: `${shops}/submit`,
  method: rpc.submitMerchantItems,
  submit: { takes: 'urls', most: 50, price: 6 },
  cases: [
    accepted('shops', 'merchant', [shop('000'), 'https://mkta.example.com.br/shop/7300001']),
    refused('a search', shop('000'), search('006')),
    refused('a shop without a number', shop('000'), 'https://mkta.example.sg/shop/abc'),
  ],
};

const retrieveShops: Endpoint = {
  verb: 'GET',
  path: `${shops}/retrieve/{job_id}`,
  method: rpc.retrieveMerchantItems,
  names: { param: 'job_id', id: 'uuid', foreign: '{searches done}' },
  cases: [
    retrieved('shops done', 'merchant', 'completed', '1/1 URLs complete', [
      { url: shop('000'), status: 'SUCCESS', download_url: dataPath },
    ]),
    retrieved('shops failed', 'merchant', 'failed', '1/1 URLs complete', [
      { url: shop('800'), status: 'FAILED', error: text },
    ]),
  ],
};

const noData = (title: string, status: number, params: Record<string, string>): Case => ({
  title,
  params,
  status,
  response: errorResponse,
});

const ofSearch = { job_id: '{searches done}', item_token: '{searches done/0}' };

const tableTypes = {
  csv: 'text/csv; charset=utf-8',
  'csv-bom': 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};

const data: Endpoint = {
  verb: 'GET',
  path: '/v1/mkta/pgnt/jobs/{job_id}/items/{item_token}/data',
  method: rpc.getPgntData,
  names: { param: 'job_id', id: 'uuid', foreign: '{items done}' },
  cases: [
    {
      title: 'the result of a search',
      params: { job_id: '{searches done}', item_token: '{searches done/0}' },
      status: 200,
      response: {
        collected_at: positive,
        success: true,
        url: search('006'),
        total_items: 7,
        has_more: false,
        items: new Array(7).fill(having({ itemid: positive, shopid: positive })),
      },
      responseHeaders: { 'content-type': 'application/json' },
    },
    {
      title: 'the result of a shop',
      params: { job_id: '{shops done}', item_token: '{shops done/0}' },
      status: 200,
      response: {
        collected_at: positive,
        success: true,
        has_more: false,
        shops: { [shop('000')]: having({ page_type: 'shop' }) },
      },
    },
    {
      title: 'the items of a search, as JSON',
      params: { job_id: '{searches done}', item_token: '{searches done/0}', format: 'json' },
      status: 200,
      response: new Array(7).fill(having({ unit_index: 0, unit_list: 'items', itemid: positive })),
      responseHeaders: {
        'content-type': 'application/json',
        'content-disposition': like(
          /^attachment; filename="mkta_search_items_1_[\w-]+\.json"$/,
          'file name',
        ),
      },
      restOnly: true,
    },
    ...(['csv', 'csv-bom', 'jsonl', 'parquet'] as const).map(
      (format): Case => ({
        title: `the items of a shop, as ${format}`,
        params: { job_id: '{shops done}', item_token: '{shops done/0}', format },
        status: 200,
        type: tableTypes[format],
        restOnly: true,
      }),
    ),
    refusedQuery('format', 'xlsx', 'enum', { params: ofSearch }),
    {
      title: 'only, without a format',
      params: { ...ofSearch, only: 'changed' },
      status: 422,
      problems: [[['query', 'format'], 'enum']],
    },
    {
      title: 'the changes of a job that is not tracked',
      params: { ...ofSearch, format: 'csv', only: 'changed' },
      status: 422,
      problems: [[['query', 'only'], 'value_error']],
    },
    noData('a token of nothing', 400, { job_id: '{searches done}', item_token: 'abc' }),
    noData("another job's token", 400, { job_id: '{shops done}', item_token: '{searches done/0}' }),
    noData('a job of marketplace B', 404, { job_id: '{b shops}', item_token: '{searches done/0}' }),
  ],
};

/** Endpoints 11 to 15 of marketplace A. */
export const endpoints: readonly Endpoint[] = [
  submitSearches,
  retrieveSearches,
  submitShops,
  retrieveShops,
  data,
];
