import { type DescMessage, getOption } from '@bufbuild/protobuf';
import type { ApiInfo } from '../../gateway/openapi/openapi.ts';
import type { Schema } from '../../gateway/openapi/schemas.ts';
import { comments } from '../../gen/comments.ts';
import { market as marketOption, title as titleOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import { marketServices } from '../contract/services.ts';
import { exampleOf } from './api-examples.ts';

const description = `Collects public product data from online marketplaces: submit a job, poll its retrieve endpoint, download the results.

Every path works with its \`/v1\` prefix and without it: \`/openapi.json\` describes the paths with the prefix,
\`/openapi-short.json\` those without. Calls need an API key as \`Authorization: Bearer <key>\`. Unknown fields
of a request are ignored and named in the response header \`X-Ignored-Fields\`; with the request header \`X-Strict: true\`
they are problems (422). \`null\` for an optional member stands for its absence. Identifiers may be written as JSON integers up
to 2^53-1. Bodies may be sent with \`Content-Encoding: gzip\`; limits apply to the decompressed body. Responses of 1 KB and more
are compressed with br or gzip for clients that accept it. Every response has an \`X-Request-Id\`: that of the request where it
is valid (up to 128 letters, digits and \`._:/+=@-\`).`;

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const whenLimited = 'Where requests are rate limited';
const header = (about: string, schema: Schema): Schema => ({ description: about, schema });

/** Texts of the REST interface for its OpenAPI document. */
export const apiInfo: Omit<ApiInfo, 'version' | 'publicUrl'> = {
  title: 'Gleaner',
  description,
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  comments,
  callerHeaders: {
    'X-Credits-Remaining': header('Credits on the account after the request.', { type: 'integer' }),
    RateLimit: header(
      `${whenLimited}: \`"key";r=<requests>;t=<seconds>\`, the remaining quota and the time until it is full again.`,
      text,
    ),
    'RateLimit-Policy': header(
      `${whenLimited}: \`"key";q=<requests>;w=<seconds>\`, the quota of an API key and its window (IETF draft ratelimit-headers).`,
      text,
    ),
    'X-RateLimit-Limit': header(`${whenLimited}: the quota of an API key.`, count),
    'X-RateLimit-Remaining': header(`${whenLimited}: the remaining quota.`, count),
    'X-RateLimit-Reset': header(`${whenLimited}: seconds until the quota is full again.`, count),
  },
  notesOf: ({ workingHours }) =>
    workingHours
      ? ['Processed during working hours only: 08:00 to 18:00 GMT+8 unless configured otherwise.']
      : [],
  extraTag: { name: 'Service', description: 'The service itself.' },
  tagOf: (service) => getOption(service, titleOption) || service.name,
  operationIdOf: ({ method }) => operationId(method.name, getOption(method.parent, marketOption)),
  schemaNameOf: schemaName,
  exampleOf,
};

/** Returns the id of an operation: `submitMktbPdpBulk` for SubmitPdpBulk of `mktb`. */
function operationId(method: string, market: string): string {
  const [, verb, rest] = /^([A-Z][a-z]+)(.*)$/.exec(method)!;
  return `${verb!.toLowerCase()}${capitalized(market)}${rest}`;
}

/** Returns the name of a type's schema; types of a marketplace start with its path segment: `MktbPdpItem`. */
function schemaName({ name, file }: DescMessage): string {
  const ofMarket = marketServices.find((service) => service.file.proto.package === file.proto.package);
  return `${ofMarket === undefined ? '' : capitalized(getOption(ofMarket, marketOption))}${name}`;
}

const capitalized = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
