import { create, getOption, hasOption } from '@bufbuild/protobuf';
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020 from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '../../../gateway/fixture/gateway.ts';
import { shopMessage, shopService } from '../../../gateway/fixture/shop.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { MktbService } from '../../../gen/gleaner/mktb/v1/mktb_pb.ts';
import { http } from '../../../gen/google/api/annotations_pb.ts';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { startTestApi } from './fixture.ts';

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  security?: unknown[];
  'x-required-scopes'?: string[];
  parameters: { name: string; in: string; required?: boolean; schema: Record<string, unknown> }[];
  requestBody: { required: boolean; content: Record<string, { schema: Record<string, unknown> }> };
  responses: Record<string, { content: Record<string, { schema: Record<string, unknown> }> }>;
}
interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Record<string, never>>;
    responses: Record<string, unknown>;
  };
}
let gateway: TestGateway;
let document: Document;

beforeAll(async () => {
  gateway = await startTestApi({ services: [shopService, MktaService] });
  document = (await (await gateway.ask('/openapi.json', { key: null })).json()) as Document;
});
afterAll(() => gateway.close(0));

const schema = (name: string) =>
  document.components.schemas[name] as unknown as {
    required: string[];
    properties: Record<string, Record<string, unknown>>;
  };

test('is serialized over many turns of the event loop, so that other requests are served', async () => {
  let turns = 0;
  const turn = () => {
    turns += 1;
    pending = setImmediate(turn);
  };
  let pending = setImmediate(turn);
  const short = await gateway.ask('/openapi-short.json', { key: null });
  clearImmediate(pending);
  expect(short.status).toBe(200);
  expect(turns).toBeGreaterThan(Object.keys(document.paths).length);
});

test('is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document) as never);
  expect(result.errors ?? []).toEqual([]);
  expect(validator.version).toBe('3.1');
  expect(document.servers).toEqual([{ url: 'http://gleaner.test' }]);
});

test('has the version of the interface, and labels every kind but variants sold as Beta', () => {
  expect(document.info.version).toBe('1.0.0');
  const beta = Object.entries(document.paths)
    .filter(([, operations]) =>
      Object.values(operations).some(({ description }) => / Beta\.$|\nBeta\./.test(description)),
    )
    .map(([path]) => path.split('/')[3]);
  expect(new Set(beta)).toEqual(
    new Set(['get_pc', 'get_pc_bulk', 'search-items', 'merchant-items', 'pgnt']),
  );
});

test('resolves every reference, compiles every schema, and has unique operation ids', () => {
  const ajv = new Ajv2020.default({ strict: false, validateFormats: false });
  ajv.addSchema(document as never, 'document');
  const texts = JSON.stringify(document).matchAll(/"\$ref":"(#[^"]+)"/g);
  for (const [, reference] of texts) {
    const target = reference!
      .split('/')
      .slice(1)
      .reduce<unknown>(
        (value, step) => (value as Record<string, unknown>)?.[step.replaceAll('~1', '/')],
        document,
      );
    expect(target, reference).toBeDefined();
  }
  for (const name of Object.keys(document.components.schemas))
    ajv.compile({ $ref: `document#/components/schemas/${name}` });
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('describes each address form in a document of its own, and the service’s own paths', async () => {
  const short = (await (
    await gateway.ask('/openapi-short.json', { key: null })
  ).json()) as Document;
  const methods = [...shopService.methods, ...MktaService.methods].filter((method) =>
    hasOption(method, http),
  );
  for (const { paths } of [document, short])
    expect(Object.values(paths).flatMap(Object.keys)).toHaveLength(methods.length + 3);
  for (const method of MktaService.methods) {
    const { pattern } = getOption(method, http);
    const path = String(pattern.value);
    expect(document.paths[path]).toHaveProperty(pattern.case!);
    expect(short.paths[path.slice('/v1'.length)]).toEqual(document.paths[path]);
  }
  for (const path of ['/v1/health', '/v1/ready', '/v1/files/{job_id}/{name}'])
    expect(document.paths).toHaveProperty([path]);
  expect(document.paths['/v1/health']!.get!.security).toEqual([]);
  expect(short.paths).toHaveProperty(['/health']);
});

test('names operations, tags, and types as generated clients should', () => {
  expect(document.paths['/v1/mkta/variant_sold_v1/submit']!.post).toMatchObject({
    operationId: 'submitMktaVariantSold',
    tags: ['Shopee'],
  });
  const names = Object.keys(document.components.schemas);
  expect(names).toEqual(
    expect.arrayContaining(['MktaVariantSoldItem', 'VariantSoldItem', 'VariantSoldRecord']),
  );
  expect(names.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
});

test('describes states as enums, and JSON of pages as types', () => {
  const { properties } = schema('VariantSoldItem');
  expect(properties.status).toMatchObject({
    type: 'string',
    enum: ['PENDING', 'SUCCESS', 'FAILED'],
  });
  expect(properties.data).toMatchObject({
    anyOf: [{ $ref: '#/components/schemas/VariantSoldRecord' }, { type: 'null' }],
  });
  const { content } =
    document.paths['/v1/mkta/pgnt/jobs/{job_id}/items/{item_token}/data']!.get!.responses['200']!;
  expect(content['application/json']!.schema.anyOf).toMatchObject([
    { $ref: expect.stringContaining('SearchItemsResult') },
    { $ref: expect.stringContaining('MerchantItemsResult') },
    { type: 'array' },
  ]);
});

const withoutExample = ['*/*', 'text/csv', 'application/vnd.apache.parquet'];

test('has a valid example of every body', () => {
  const ajv = new Ajv2020.default({ strict: false, validateFormats: false });
  ajv.addSchema(document as never, 'document');
  const escaped = (step: string) => encodeURI(step.replaceAll('~', '~0').replaceAll('/', '~1'));
  let bodies = 0;
  for (const [path, operations] of Object.entries(document.paths).filter(
    ([path]) => !path.includes('/shop/'),
  ))
    for (const [verb, { requestBody, responses }] of Object.entries(operations)) {
      const places = [
        ...Object.keys(requestBody?.content ?? {}).map((type) => ['requestBody', 'content', type]),
        ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
          Object.keys(content).map((type) => ['responses', status, 'content', type]),
        ),
      ].filter((place) => !withoutExample.includes(place.at(-1)!));
      for (const place of places) {
        const steps = ['paths', path, verb, ...place];
        const media = steps.reduce<unknown>(
          (value, step) => (value as Record<string, unknown>)[step],
          document,
        );
        const check = ajv.compile({
          $ref: `document#/${[...steps, 'schema'].map(escaped).join('/')}`,
        });
        check((media as { example?: unknown }).example);
        expect(check.errors ?? [], steps.join(' ')).toEqual([]);
        bodies++;
      }
    }
  expect(bodies).toBeGreaterThan(20);
});

test('includes comments, statuses, bodies and errors of the contract', () => {
  const submit = document.paths['/v1/mkta/variant_sold_v1/submit']!.post!;
  expect(submit.summary).toBe('Submit variant sold');
  expect(submit.description).toContain('working hours');
  expect(submit.description).toContain('Needs a key with `submit`.');
  expect(submit['x-required-scopes']).toEqual(['submit']);
  expect(Object.keys(submit.responses)).toEqual([
    '200',
    '202',
    '400',
    '401',
    '402',
    '403',
    '409',
    '413',
    '415',
    '422',
    '429',
    '500',
    '502',
    '503',
  ]);
  expect(submit.responses['200']).toMatchObject({
    description: 'Quote of a submit with `validate_only`; absent otherwise.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Quote' } } },
  });
  expect(schema('VariantSoldSubmitted').properties).not.toHaveProperty('quote');
  expect(submit.parameters.slice(0, 3)).toMatchObject([
    { name: 'name', in: 'query', schema: { type: 'string' } },
    { name: 'validate_only', in: 'query', schema: { type: 'boolean' } },
    { name: 'max_credits', in: 'query', schema: { type: 'integer', minimum: 0 } },
  ]);
  expect(submit.requestBody.content).toHaveProperty(['application/json']);
  expect(schema('MktaSubmitVariantSoldRequest').properties.items).toEqual({
    type: 'array',
    items: { $ref: '#/components/schemas/MktaVariantSoldItem' },
    minItems: 1,
    maxItems: 50_000,
    description: '1 to 50,000 items. Duplicates are charged twice.',
  });
  expect(schema('MktaVariantSoldItem').properties).toMatchObject({
    item_id: { type: ['string', 'integer'], pattern: '^[0-9]{1,20}$', minLength: 1 },
    country: {
      type: ['string', 'null'],
      enum: ['id', 'sg', 'th', 'ph', 'my', 'vn', 'tw', 'br', null],
    },
  });
  // biome-ignore lint/suspicious/noExplicitAny: a document.
  const { links } = (submit.responses as any)[202];
  const { operationId } = document.paths['/v1/mkta/variant_sold_v1/retrieve/{job_id}']!.get!;
  expect(links[`${operationId}`]).toEqual({
    operationId,
    parameters: { job_id: '$response.body#/job_id' },
  });
  const retrieve = document.paths['/v1/mkta/variant_sold_v1/retrieve/{job_id}']!.get!;
  expect(retrieve.parameters).toEqual([
    {
      name: 'job_id',
      in: 'path',
      required: true,
      description: 'The job.',
      schema: { type: 'string', format: 'uuid', pattern: expect.any(String) },
      example: expect.any(String),
    },
    expect.objectContaining({ name: 'wait', in: 'query' }),
    expect.objectContaining({ name: 'If-None-Match', in: 'header' }),
  ]);
  expect(Object.keys(retrieve.responses)).toEqual([
    '200',
    '304',
    '400',
    '401',
    '403',
    '404',
    '422',
    '429',
    '500',
    '502',
    '503',
  ]);
  expect(schema('VariantSoldDownload').required).toContain('download_url');
  expect(schema('VariantSoldDownload').properties.download_url).toMatchObject({
    type: ['string', 'null'],
  });
  expect(schema('VariantSoldBatch').required).not.toContain('download_url');
});

test('includes forms, queries, defaults and streams', () => {
  const upload =
    document.paths['/v1/shop/uploads']!.post!.requestBody.content['multipart/form-data']!.schema;
  expect(upload).toEqual({
    type: 'object',
    properties: {
      file: { type: 'string', format: 'binary' },
      rescrape: { type: 'boolean' },
      result_format: { type: 'string', enum: ['csv', 'jsonl'], default: 'csv' },
    },
    required: ['file'],
  });
  const { parameters } = document.paths['/v1/shop/orders']!.get!;
  expect(parameters.map(({ name, in: place }) => `${place} ${name}`)).toEqual([
    'query limit',
    'query states',
    'query gift',
    'query shipping',
    'query below',
    'query since',
    'header If-None-Match',
  ]);
  expect(parameters[0]!.schema).toEqual({
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: 100,
    default: 20,
  });
  expect(document.paths['/v1/shop/data/{name}']!.get!.responses['200']!.content).toEqual({
    '*/*': { schema: {} },
  });
  expect(
    document.paths['/v1/shop/orders/{number}/note']!.put!.parameters.map(({ name }) => name),
  ).toEqual(['number', 'quiet']);
  expect(document.paths['/v1/shop/orders']!.post!.parameters.map(({ name }) => name)).toContain(
    'Idempotency-Key',
  );
  expect(schema('PlaceOrderRequestInput').properties).toMatchObject({
    customerKey: { maxLength: 10 },
    pages: { default: 7 },
  });
});

test('describes the calls of operators as Connect serves them', async () => {
  const operator = (await (
    await gateway.ask('/openapi-operator.json', { key: null })
  ).json()) as Document;
  const result = await new Validator().validate(structuredClone(operator) as never);
  expect(result.errors ?? []).toEqual([]);
  const { post } = operator.paths['/gleaner.operator.v1.OperatorService/GrantCredits']!;
  expect(post).toMatchObject({ operationId: 'grantCredits', tags: ['Credits'] });
  const ajv = new Ajv2020.default({ strict: false, validateFormats: false });
  ajv.addSchema(operator as never, 'operator');
  for (const { requestBody, responses } of Object.values(operator.paths).map((path) => path.post!))
    for (const body of [requestBody, ...Object.values(responses)]) {
      const { schema, example } = body.content['application/json']! as {
        schema: { $ref: string };
        example?: unknown;
      };
      const check = ajv.compile({ $ref: `operator${schema.$ref}` });
      check(example);
      expect(check.errors ?? [], schema.$ref).toEqual([]);
    }
});

test('responses match their schemas', () => {
  const ajv = new Ajv2020.default({ strict: false, validateFormats: false });
  ajv.addSchema(document as never, 'document');
  const check = ajv.compile({ $ref: 'document#/components/schemas/Order' });
  const write = messageWriter(shopMessage('Order'));
  for (const init of [
    {},
    {
      number: 5n,
      error: 'x',
      link: 'y',
      data: '{"a":[1]}',
      lines: [{ itemId: '1' }],
      createdAt: { seconds: 1n },
      shipping: 2,
      labels: { a: 'b' },
      request: {},
    },
  ]) {
    check(JSON.parse(write(create(shopMessage('Order'), init as never))));
    expect(check.errors ?? []).toEqual([]);
  }
});

test('serves a reference page without other origins and inline scripts', async () => {
  for (const path of ['/docs', '/v1/docs', '/docs/try', '/v1/docs/try']) {
    const page = await gateway.ask(path, { key: null });
    const text = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(text).not.toMatch(/https?:|<script>|\son[a-z]+=/);
    for (const [, address] of text.matchAll(/(?:src|href)="([a-z][^":]+)"/g)) {
      const file = await gateway.ask(new URL(address!, `http://x${path}`).pathname, { key: null });
      expect([address, file.status, (await file.text()).length > 50]).toEqual([address, 200, true]);
    }
  }
  expect((await gateway.ask('/docs/package.json')).status).toBe(404);
});

test('declares the headers of authenticated, tagged and 202 responses', () => {
  const headersOf = (path: string, verb: string, status: string) => {
    const response = document.paths[path]![verb]!.responses[status] as { headers?: object };
    return Object.keys(response.headers ?? {});
  };
  const caller = [
    'X-Request-Id',
    'X-Credits-Remaining',
    'RateLimit',
    'RateLimit-Policy',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
  ];
  const submit = '/v1/mkta/variant_sold_v1/submit';
  const retrieve = '/v1/mkta/variant_sold_v1/retrieve/{job_id}';
  expect(headersOf(submit, 'post', '202')).toEqual([...caller, 'X-Ignored-Fields', 'Location']);
  expect(headersOf(retrieve, 'get', '200')).toEqual([...caller, 'ETag']);
  expect(headersOf(retrieve, 'get', '304')).toEqual([...caller, 'ETag']);
  expect(headersOf('/v1/shop/parcels/{parcel_id}', 'get', '200')).toEqual([
    ...caller,
    'ETag',
    'Cache-Control',
  ]);
  expect(headersOf('/v1/shop/data/{name}', 'get', '200')).toEqual(caller);
  const responses = document.components.responses as Record<string, { headers: object }>;
  expect(Object.keys(responses.Error402!.headers)).toEqual(caller);
  expect(Object.keys(responses.Error401!.headers)).toEqual(['X-Request-Id', 'WWW-Authenticate']);
});

test.each([
  '/openapi.json',
  '/v1/openapi.json',
  '/openapi-short.json',
  '/openapi-operator.json',
  '/docs',
  '/docs/try',
])('serves %s with a validator, in the encodings that clients accept', async (path) => {
  const ask = (headers: Record<string, string> = {}) => gateway.ask(path, { key: null, headers });
  const plain = await ask({ 'accept-encoding': 'identity' });
  const text = await plain.text();
  const tag = plain.headers.get('etag')!;
  expect(plain.headers.get('cache-control')).toBe('no-cache');
  for (const encoding of ['br', 'gzip']) {
    const encoded = await ask({ 'accept-encoding': encoding });
    // Content below 1 KB is sent unencoded.
    if (text.length < 1024) continue;
    expect([encoded.headers.get('content-encoding'), encoded.headers.get('vary')]).toEqual([
      encoding,
      'accept-encoding',
    ]);
    expect([await encoded.text(), encoded.headers.get('etag')]).toEqual([text, tag]);
  }
  const known = await ask({ 'if-none-match': tag });
  expect([known.status, await known.text(), known.headers.get('etag')]).toEqual([304, '', tag]);
});

test('refuses a blank text where it identifies an item, as the service does', async () => {
  const other = await startTestApi({ services: [MktbService] });
  const { components } = (await (
    await other.ask('/openapi.json', { key: null })
  ).json()) as Document;
  const { shop_domain } = (components.schemas.MktbPdpItem as unknown as { properties: object })
    .properties as { shop_domain: object };
  expect(shop_domain).toMatchObject({ type: 'string', pattern: String.raw`\S`, minLength: 1 });
  await other.close(0);
});
