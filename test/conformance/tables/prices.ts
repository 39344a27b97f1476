import { PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import { matching } from '../matchers.ts';
import type { Marketplace } from '../table.ts';

/** The price of a kind whose jobs are CSV files. */
const csvRows = {
  market: 'mkta',
  kind: 'get_pc_bulk',
  submit_path: '/v1/mkta/get_pc_bulk/submit',
  unit_price: 8,
  charged_at: 'submit',
  needs_approval: false,
  in_working_hours: false,
  regions: ['id', 'sg', 'th', 'ph', 'my', 'vn', 'tw', 'br'],
  max_units: 2000,
  max_batch_units: 50,
  max_body_bytes: 8 * 1024 * 1024,
  reused_unit_price: 4,
};

/** Prices: 1 endpoint. */
export const prices: Marketplace = {
  name: 'prices',
  jobs: {},
  endpoints: [
    {
      verb: 'GET',
      path: '/v1/prices',
      method: PriceService.method.getPriceList,
      cases: [
        {
          title: 'the price and the limits of every kind of job',
          status: 200,
          response: {
            prices: matching('16 prices', (value) => {
              const listed = value as (typeof csvRows)[];
              const rows = listed.find(({ kind }) => kind === 'get_pc_bulk');
              return listed.length === 16 && JSON.stringify(rows) === JSON.stringify(csvRows);
            }),
            working_hours: '',
            approval_hours: 24,
          },
        },
      ],
    },
  ],
};
