import { MktdService } from '../../../gen/gleaner/mktd/v1/mktd_pb.ts';
import type { Marketplace } from '../table.ts';
import { bulkSubmit, fileRetrieve } from './bulk.ts';

const rpc = MktdService.method;
const pages = '/v1/mktd/pdp/bulk';

const page = (digits: string, country: string) => ({ product_id: `1729000076${digits}`, country });

/** Marketplace D: 2 endpoints. */
export const mktd: Marketplace = {
  name: 'mktd',
  jobs: {
    'd pages': {
      submit: `${pages}/submit`,
      body: { items: [page('001', 'th'), page('002', 'id'), page('800', 'th')] },
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
        product_id: { is: 'id', digits: true },
        country: { is: 'choice', of: ['id', 'my', 'sg', 'th', 'vn', 'ph'], absent: 'br' },
      },
      items: [page('001', 'th'), page('002', 'id')],
    }),
    fileRetrieve(
      { path: `${pages}/retrieve/{job_id}`, method: rpc.retrievePdpBulk, foreign: '{b pages}' },
      { 'd pages': ['partial_complete', 3, 2, 1] },
      'mktd_pdp_*.jsonl.gz',
    ),
  ],
};
