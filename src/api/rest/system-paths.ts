import { errorResponses } from '../../../gateway/openapi/error-responses.ts';
import { requestIdHeader } from '../../../gateway/openapi/headers.ts';
import type { Schema } from '../../../gateway/openapi/schemas.ts';
import { exportFormats } from '../../present/export-formats.ts';

const json = (
  description: string,
  properties: Record<string, Schema>,
  example: Record<string, unknown>,
): Schema => ({
  description,
  headers: requestIdHeader,
  content: {
    'application/json': {
      schema: { type: 'object', properties, required: Object.keys(properties) },
      example,
    },
  },
});

const pathParameter = (name: string): Schema => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', minLength: 1 },
});

const textParameter = (name: string, description: string): Schema => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string' },
});

const unavailable = (description: string) =>
  json(
    description,
    {
      status: { type: 'string', const: 'unavailable' },
      detail: { type: 'string', description: 'The missing component.' },
    },
    { status: 'unavailable', detail: 'The store is unavailable.' },
  );

const text = (description: string): Schema => ({ description, schema: { type: 'string' } });
const file = (description: string): Schema => ({
  description,
  headers: {
    ...requestIdHeader,
    'Content-Disposition': text('Name to save the file under.'),
    ETag: text('Identifies the content.'),
    'Accept-Ranges': text('`bytes`.'),
    'Repr-Digest': text('SHA-256 of the whole file, unless the response is encoded (RFC 9530).'),
  },
  content: { '*/*': { schema: {} } },
});

/** OpenAPI operations of the paths that no proto declares. */
export const systemOperations = {
  health: {
    operationId: 'getHealth',
    tags: ['Service'],
    summary: 'Liveness probe.',
    security: [],
    responses: {
      200: json('The process runs.', { status: { type: 'string', const: 'ok' } }, { status: 'ok' }),
      503: unavailable('The service is starting.'),
    },
  },
  ready: {
    operationId: 'getReadiness',
    tags: ['Service'],
    summary: 'Readiness probe.',
    security: [],
    responses: {
      200: json(
        'The service is ready.',
        { status: { type: 'string', const: 'ready' } },
        { status: 'ready' },
      ),
      503: unavailable('A component of the service is unavailable.'),
    },
  },
  file: {
    operationId: 'downloadFile',
    tags: ['Service'],
    summary: 'A result file, by a signed link.',
    description: [
      'Retrieve endpoints return links, which are valid for 7 days.',
      'Some also need the API key of their owner.',
      'Byte ranges are supported.',
      'A gzip file is sent unchanged, as application/gzip;',
      'other whole files are sent in br or gzip to clients that accept it.',
    ].join(' '),
    security: [{}, { bearer: [] }],
    parameters: [
      pathParameter('job_id'),
      pathParameter('name'),
      textParameter('expires', 'Unix time in seconds after which the link is not valid.'),
      textParameter('signature', 'Signature of the link.'),
      textParameter('user', 'Owner whose API key is required.'),
      textParameter('name', 'Name to save the file under.'),
      {
        name: 'format',
        in: 'query',
        description: 'Returns the records of the file as a table.',
        schema: { type: 'string', enum: exportFormats.map(({ format }) => format) },
      },
      {
        name: 'only',
        in: 'query',
        description: '`changed` for the items that are new, changed, or back again; with `format`.',
        schema: { type: 'string', enum: ['changed'] },
      },
      {
        name: 'columns',
        in: 'query',
        description:
          '`standard` for the columns that all kinds and ' +
          'marketplaces have in common; with `format`.',
        schema: { type: 'string', enum: ['standard'] },
      },
      {
        name: 'Range',
        in: 'header',
        description: '`bytes=<first>-<last>`.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: file('The file.'),
      206: file('The range of the file.'),
      302: {
        description: 'The file is at `Location`.',
        headers: { ...requestIdHeader, Location: text('Address of the file.') },
      },
      304: {
        description: 'The file is the one that `If-None-Match` names.',
        headers: requestIdHeader,
      },
      ...errorResponses([400, 401, 403, 404, 410, 416, 422, 500, 502]),
    },
  },
} satisfies Record<string, Schema>;
