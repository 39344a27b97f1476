import { SchemaService } from '../../../gen/gleaner/schema/v1/schema_pb.ts';
import { errorResponse } from '../errors.ts';
import { having, matching } from '../matchers.ts';
import type { Marketplace } from '../table.ts';

const rpc = SchemaService.method;

/** Tables of records: 2 endpoints. */
export const schemas: Marketplace = {
  name: 'schemas',
  jobs: {},
  endpoints: [
    {
      verb: 'GET',
      path: '/v1/schemas',
      method: rpc.listSchemas,
      cases: [
        {
          title: 'every table',
          status: 200,
          response: {
            tables: matching('tables', (value) =>
              (value as { schema_path: string; columns: unknown[] }[]).every(
                ({ schema_path: path, columns }) =>
                  /^\/v1\/schemas\/(?:mkt|sites)/.test(path) && columns.length > 4,
              ),
            ),
          },
        },
      ],
    },
    {
      verb: 'GET',
      path: '/v1/schemas/{market}/{kind}',
      method: rpc.getSchema,
      cases: [
        {
          title: 'the schema of a kind',
          params: { market: 'mktd', kind: 'pdp_bulk' },
          status: 200,
          type: 'application/schema+json',
          response: having({
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
          }),
        },
        {
          title: 'an unknown kind',
          params: { market: 'mktd', kind: 'constructor' },
          status: 404,
          response: errorResponse,
        },
        {
          title: 'an unknown marketplace',
          params: { market: 'mktz', kind: 'pdp_bulk' },
          status: 404,
          response: errorResponse,
        },
      ],
    },
  ],
};
