import { MktfService } from '../../../gen/gleaner/mktf/v1/mktf_pb.ts';
import type { Marketplace } from '../table.ts';
import { bulkSubmit, refusedItem, tasksRetrieve } from './bulk.ts';

const rpc = MktfService.method;
const path = '/v1/mktf/search/bulk';
const task = (page: string) => ({ url: `{store}${page}` });

/** Marketplace F: 2 endpoints. */
export const mktf: Marketplace = {
  name: 'mktf',
  jobs: {
    'f stores': {
      submit: `${path}/submit`,
      body: { items: [task('/collections/lamps-702'), task('/collections/lamps-800')] },
      ends: true,
    },
  },
  endpoints: [
    bulkSubmit({
      path: `${path}/submit`,
      method: rpc.submitSearchBulk,
      price: 1,
      most: 50,
      fields: { url: { is: 'text' } },
      items: [
        task('/collections/lamps-702'),
        task('/collections/lamps-701/products.json'),
        task('/collections/all-702'),
        task('/search?q=lamp'),
      ],
      more: [
        refusedItem('a text that is not a URL', { url: 'lamps' }, 'url', 'url_parsing'),
        refusedItem('another scheme', { url: 'file:///etc/passwd' }, 'url', 'url_parsing'),
        refusedItem('a page that is not a listing', task('/pages/about'), 'url', 'url_parsing'),
      ],
    }),
    tasksRetrieve(
      {
        path: `${path}/retrieve/{job_id}`,
        method: rpc.retrieveSearchBulk,
        foreign: '{b searches}',
      },
      {
        'f stores': [
          [task('/collections/lamps-702'), true],
          [task('/collections/lamps-800'), false],
        ],
      },
      'mktf_search_bulk_*.json',
    ),
  ],
};
