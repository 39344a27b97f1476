import type { Marketplace } from '../table.ts';

/** Health of the service. */
export const health: Marketplace = {
  name: 'health',
  jobs: {},
  endpoints: [
    {
      verb: 'GET',
      path: '/health',
      method: null,
      cases: [
        { title: 'liveness, with a key', status: 200, response: { status: 'ok' } },
        {
          title: 'liveness, without a key',
          caller: 'nobody',
          status: 200,
          response: { status: 'ok' },
        },
      ],
    },
  ],
};
