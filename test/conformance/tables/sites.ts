import { SitesService } from '../../../gen/gleaner/sites/v1/sites_pb.ts';
import type { Case, Endpoint, Marketplace } from '../table.ts';
import { bulkSubmit, fileRetrieve, refusedItem, tasksRetrieve } from './bulk.ts';

const rpc = SitesService.method;
const path = '/v1/sites/{site}';
const params = { site: 'example' };
const page = (id: string) => ({ url: `https://shop.example/p/${id}` });
const listing = (name: string) => ({ url: `https://shop.example/c/${name}` });

/** Adds the site to the path of every case. */
const onSite = (endpoint: Endpoint): Endpoint => {
  const cases = endpoint.cases.map((row) => ({ ...row, params: { ...params, ...row.params } }));
  return { ...endpoint, cases: cases as unknown as [Case, ...Case[]] };
};

const refused = (item: (name: string) => object): Case[] => [
  refusedItem('a text that is not a URL', { url: 'mugs' }, 'url', 'url_parsing'),
  refusedItem('another scheme', { url: 'file:///etc/passwd' }, 'url', 'url_parsing'),
  refusedItem(
    'a host that no site has',
    { url: 'https://other.example/p/1' },
    'url',
    'url_parsing',
  ),
  {
    title: 'a site that is not declared',
    params: { site: 'examples' },
    body: { items: [item('10001')] },
    status: 422,
    problems: [[['path', 'site'], 'enum']],
  },
];

/** Jobs of another site are not found. */
const otherSite = (job: string): Case => ({
  title: 'another site',
  params: { site: 'kiln', job_id: `{${job}}` },
  status: 404,
});

/** Adds a case to an endpoint. */
const withCase = (endpoint: Endpoint, row: Case): Endpoint => ({
  ...endpoint,
  cases: [...endpoint.cases, row],
});

/** Declared sites: 4 endpoints. */
export const sites: Marketplace = {
  name: 'sites',
  jobs: {
    's pages': {
      submit: '/v1/sites/example/pdp/bulk/submit',
      body: { items: [page('10001'), page('10002'), page('10800')] },
      ends: true,
    },
    's listings': {
      submit: '/v1/sites/example/search/bulk/submit',
      body: { items: [listing('mugs-702'), listing('mugs-800')] },
      ends: true,
    },
  },
  endpoints: [
    onSite(
      bulkSubmit({
        path: `${path}/pdp/bulk/submit`,
        method: rpc.submitPdpBulk,
        price: 1,
        most: 2000,
        fields: { url: { is: 'text' } },
        items: ['10001', '10002', '10003', '10004'].map(page),
        more: refused(page),
      }),
    ),
    onSite(
      withCase(
        fileRetrieve(
          {
            path: `${path}/pdp/bulk/retrieve/{job_id}`,
            method: rpc.retrievePdpBulk,
            foreign: '{s listings}',
          },
          { 's pages': ['partial_complete', 3, 2, 1] },
          'sites_pdp_*.jsonl.gz',
        ),
        otherSite('s pages'),
      ),
    ),
    onSite(
      bulkSubmit({
        path: `${path}/search/bulk/submit`,
        method: rpc.submitSearchBulk,
        price: 1,
        most: 50,
        fields: { url: { is: 'text' } },
        items: ['mugs-702', 'mugs-701', 'lamps-702', 'lamps-701'].map(listing),
        more: refused(listing),
      }),
    ),
    onSite(
      withCase(
        tasksRetrieve(
          {
            path: `${path}/search/bulk/retrieve/{job_id}`,
            method: rpc.retrieveSearchBulk,
            foreign: '{s pages}',
          },
          {
            's listings': [
              [listing('mugs-702'), true],
              [listing('mugs-800'), false],
            ],
          },
          'sites_search_bulk_*.json',
        ),
        otherSite('s listings'),
      ),
    ),
  ],
};
