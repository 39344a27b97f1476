import { type DescMessage, type DescMethod, getOption } from '@bufbuild/protobuf';
import type { ConnectDocumentOptions } from '../../../gateway/openapi/connect-document.ts';
import type { ApiInfo } from '../../../gateway/openapi/document-options.ts';
import type { Schema } from '../../../gateway/openapi/schemas.ts';
import { comments } from '../../../gen/comments.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import {
  job as jobOption,
  market as marketOption,
  Step,
  title as titleOption,
} from '../../../gen/gleaner/options/v1/options_pb.ts';
import { SitesService } from '../../../gen/gleaner/sites/v1/sites_pb.ts';
import { marketServices } from '../../contract/services.ts';
import { methodText } from '../../present/names.ts';
import { capitalize } from '../../present/text.ts';
import { codeSamplesOf, exampleOf } from './api-examples.ts';

const description = `Collects public product data from online marketplaces: submit a job, wait for it, download the results.

## Quick start

1. Get an API key: an operator creates one, and your account page in the [console](/console) creates more.
2. Submit a job. The response has its id and its price.
3. Wait for its end. \`?wait=30s\` responds when the job changes, so that no polling loop is needed.
4. Download its files. The links are valid for 7 days.

\`\`\`sh
export GLEANER_URL=http://127.0.0.1:8080 GLEANER_API_KEY=gl_…

curl "$GLEANER_URL/v1/mktb/pdp/bulk/submit" \\
  -H "Authorization: Bearer $GLEANER_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"items": [{"shop_domain": "toko-7", "product_key": "barang-1001"}]}'

curl "$GLEANER_URL/v1/jobs/$JOB_ID?wait=30s" -H "Authorization: Bearer $GLEANER_API_KEY"
curl "$GLEANER_URL/v1/jobs/$JOB_ID/files" -H "Authorization: Bearer $GLEANER_API_KEY"
\`\`\`

## Authentication

Send your API key as \`Authorization: Bearer <key>\`. Enter it in the reference to fill it into
the examples. It stays in the page and is sent to this service only. Jobs belong to the user of
the key: another user's job is not found.

## Requests and responses

Every path works with its \`/v1\` prefix and without it: \`/openapi.json\` describes the paths
with the prefix, \`/openapi-short.json\` those without. An unknown query parameter of a submit is
refused (422). Other unknown fields of a request are ignored and named in the response header
\`X-Ignored-Fields\`; with the request header \`X-Strict: true\` they are problems (422). \`null\`
for an optional member stands for its absence. Identifiers may be written as JSON integers up to
2^53-1. Bodies may be sent with \`Content-Encoding: gzip\`; limits apply to the decompressed body.
Responses of 1 KB and more are compressed with br or gzip for clients that accept it. Every
response has an \`X-Request-Id\`: that of the request where it is valid (up to 128 letters, digits
and \`._:/+=@-\`).`;

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const whenLimited = 'Where requests are rate limited';
const header = (about: string, schema: Schema): Schema => ({ description: about, schema });

const hoursNote =
  'Processed during working hours only: 08:00 to 18:00 GMT+8 unless configured otherwise.';

/** Texts of the REST interface for its OpenAPI document. */
export const apiInfo: Omit<ApiInfo, 'publicUrl'> = {
  title: 'Gleaner',
  // Version of the interface, not of the program.
  version: '1.0.0',
  description,
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  comments,
  callerHeaders: {
    'X-Credits-Remaining': header('Credits on the account after the request.', { type: 'integer' }),
    RateLimit: header(
      `${whenLimited}: \`"key";r=<requests>;t=<seconds>\`, ` +
        'the remaining quota and the time until it is full again.',
      text,
    ),
    'RateLimit-Policy': header(
      `${whenLimited}: \`"key";q=<requests>;w=<seconds>\`, ` +
        'the quota of an API key and its window (IETF draft ratelimit-headers).',
      text,
    ),
    'X-RateLimit-Limit': header(`${whenLimited}: the quota of an API key.`, count),
    'X-RateLimit-Remaining': header(`${whenLimited}: the remaining quota.`, count),
    'X-RateLimit-Reset': header(`${whenLimited}: seconds until the quota is full again.`, count),
  },
  notesOf: ({ method, workingHours }) => {
    const notes: string[] = [];
    if (isBeta(method)) notes.push('Beta.');
    if (workingHours) notes.push(hoursNote);
    return notes;
  },
  extraTag: { name: 'Service', description: 'The service itself.' },
  titleOf: ({ name }) => methodText(name),
  tagOf: (service) => getOption(service, titleOption) || service.name,
  operationIdOf: ({ method }) => operationId(method.name, getOption(method.parent, marketOption)),
  schemaNameOf: schemaName,
  exampleOf,
  codeSamplesOf,
};

/**
 * Returns true for methods on jobs that the interface labels beta. SitesService is not part of it.
 */
function isBeta(method: DescMethod): boolean {
  const { step, stable } = getOption(method, jobOption);
  return step !== Step.UNSPECIFIED && !stable && method.parent !== SitesService;
}

const operatorDescription = `Calls for operators: users, credits, approvals, and the state of the service. They need the API
key of an operator and are served as [Connect](https://connectrpc.com/docs/protocol) with JSON on
the port of the REST API, and as gRPC. 64-bit integers are strings, and members with default
values are absent from responses. Operators also use the jobs and schedules of every user through
the calls of users, REST included; each use is recorded in the audit log.

\`\`\`sh
curl "$GLEANER_URL/gleaner.job.v1.JobService/ListJobs" \\
  -H "Authorization: Bearer $GLEANER_OPERATOR_KEY" -H "Content-Type: application/json" -d '{"status": "awaiting_approval"}'
\`\`\``;

/** Texts of the operators' calls for their OpenAPI document. */
export const operatorInfo: Omit<ConnectDocumentOptions, 'version' | 'publicUrl'> = {
  title: 'Gleaner operator API',
  description: operatorDescription,
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  comments,
  services: [OperatorService],
  titleOf: ({ name }) => methodText(name),
  methodTagOf: operatorTag,
  methodTags: {
    'Users and keys': 'Users, operators, and their API keys.',
    Credits: 'Credits and the ledger.',
    Jobs: 'Approvals, batches, and links to files.',
    Service: 'State of the service.',
  },
  schemaNameOf: schemaName,
  exampleOf,
};

/** Returns the tag of an operators' call: the subject that its name ends with. */
function operatorTag({ name }: DescMethod): string {
  if (/User|ApiKey|Operator/.test(name)) return 'Users and keys';
  if (/Ledger|Credit|Usage/.test(name)) return 'Credits';
  return /Job|Unit|Fault|Progress|Batch|File/.test(name) ? 'Jobs' : 'Service';
}

/** Returns the id of an operation: `submitMktbPdpBulk` for SubmitPdpBulk of `mktb`. */
function operationId(method: string, market: string): string {
  const [, verb, rest] = /^([A-Z][a-z]+)(.*)$/.exec(method)!;
  return `${verb!.toLowerCase()}${capitalize(market)}${rest}`;
}

/**
 * Returns the name of a type's schema; types of a marketplace start with its path segment:
 * `MktbPdpItem`.
 */
function schemaName({ name, file }: DescMessage): string {
  const ofMarket = marketServices.find(
    (service) => service.file.proto.package === file.proto.package,
  );
  return `${ofMarket === undefined ? '' : capitalize(getOption(ofMarket, marketOption))}${name}`;
}
