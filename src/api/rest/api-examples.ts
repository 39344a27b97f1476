import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import type { ServedEndpoint } from '../../../gateway/endpoint.ts';
import { createExampleGenerator } from '../../../gateway/openapi/examples.ts';
import type { Schema } from '../../../gateway/openapi/schemas.ts';
import { json as jsonOption } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { restName } from '../../contract/rest-form.ts';

const examples = createExampleGenerator(exampleOf, 'connect');

/**
 * Returns a TypeScript sample of an operation with `@gleaner/client`, for the `x-codeSamples` of
 * OpenAPI documents. Renderers create samples of other languages from the operation, with the
 * reader's key.
 */
export function codeSamplesOf(endpoint: ServedEndpoint): Schema[] {
  const service = endpoint.method.parent.name;
  const source = [
    `import { createGleanerClient, ${service} } from '@gleaner/client';`,
    '',
    `const gleaner = createGleanerClient({`,
    `  url: process.env.GLEANER_URL!,`,
    `  apiKey: process.env.GLEANER_API_KEY!,`,
    `});`,
    ...statements(endpoint),
  ];
  return [{ lang: 'TypeScript', label: '@gleaner/client', source: source.join('\n') }];
}

/** Returns the statements that call an endpoint and use its response. */
function statements({ method, isSubmit, streams }: ServedEndpoint): string[] {
  const request = literal(method.input, examples.message(method.input, 'request'));
  const call = `${method.parent.name}.method.${method.localName}, ${request}`;
  if (isSubmit)
    return [
      `const { jobId } = await gleaner.submit(${call});`,
      `const job = await gleaner.wait(jobId);`,
      `await gleaner.downloadAll(jobId, 'results');`,
    ];
  if (streams)
    return [
      `const stream = await gleaner.stream(${call});`,
      `for await (const line of stream.lines()) console.log(line);`,
    ];
  return [`const response = await gleaner.call(${call});`];
}

/**
 * Returns an example of a message as an object literal: 64-bit integers are bigints, and bytes an
 * array.
 */
function literal(message: DescMessage, example: unknown): string {
  if (message.typeName === 'google.protobuf.Timestamp')
    return `timestampFromDate(new Date(${JSON.stringify(example)}))`;
  const members: string[] = [];
  for (const [name, value] of Object.entries(example as Record<string, unknown>)) {
    const field = message.fields.find(({ jsonName }) => jsonName === name)!;
    const text = Array.isArray(value) ? listText(field, value) : valueText(field, value);
    members.push(`${name}: ${text}`);
  }
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function listText(field: DescField, values: readonly unknown[]): string {
  const elements = values.map((value) => valueText(field, value));
  return `[${elements.join(', ')}]`;
}

function valueText(field: DescField, value: unknown): string {
  if (field.message !== undefined) return literal(field.message, value);
  if (field.scalar === ScalarType.INT64) return `${value}n`;
  if (field.scalar === ScalarType.BYTES)
    return `new TextEncoder().encode(${JSON.stringify(value)})`;
  return JSON.stringify(value);
}

const uuid = '0b6f2f4e-6a1f-4a53-9a53-0c6f0f3a9b11';
const link = `https://gleaner.example.com/v1/files/${uuid}/result.jsonl.gz?expires=1893988800&signature=7c1a`;
const digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/**
 * Examples by the name of a field in REST bodies, for fields whose type and rules do not suggest a
 * good one.
 */
const byName: Readonly<Record<string, unknown>> = {
  job_id: uuid,
  task_id: 1042,
  batch_id: 'c2a7a1c7-3f3b-4b0e-8a35-6f6d1b0a5d22',
  key_id: '5a1b7a5e-0a7e-4f0e-b1d0-9a7c1e2f3d44',
  user_id: 'e4d909c2-90d0-4fb1-8ca0-68ad7e3f1c55',
  delivery_id: '8d3f5c1e-2b4a-4c6d-9e8f-1a2b3c4d5e66',
  id: 'e4d909c2-90d0-4fb1-8ca0-68ad7e3f1c55',
  item_id: '21448123549',
  shop_id: '178926468',
  itemid: 21448123549,
  shopid: '178926468',
  country: 'sg',
  region: 'sg',
  keyword: 'wireless mouse',
  url: 'https://shop.example/collections/all',
  created_at: '2030-01-07T04:00:00Z',
  updated_at: '2030-01-07T04:00:00Z',
  timestamp: '2030-01-07T04:00:00Z',
  at: '2030-01-07T04:00:00Z',
  name: 'Nightly import',
  email: 'ann@example.com',
  progress: 1,
  download_url: link,
  retrieve_path: `/v1/mktb/pdp/bulk/retrieve/${uuid}`,
  total: 2,
  success: 2,
  failed: 0,
  pending: 0,
  cost: 10,
  refunded: 0,
  balance: 4990,
  total_items: 2,
  total_batches: 1,
  success_count: 2,
  failed_count: 0,
  total_urls: 1,
  collected_at: 1893988800,
  index: 0,
  key: '21448123549',
  input: { item_id: '21448123549', shop_id: '178926468' },
  kind: 'variant_sold',
  market: 'mkta',
  next_page_token: '',
  content_type: 'application/gzip',
  sha256: digest,
  prefix: 'gl_7f3a',
  api_key: 'gl_7f3a9c0b5d2e4f6a8b1c3d5e7f9a0b2c',
  note: 'First top-up',
  day: '2030-01-07',
  code: 'page_not_found',
  message: 'The product page does not exist.',
  reason: '',
  target: 'https://hooks.example.com/gleaner',
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  body: { type: 'job.ended', timestamp: '2030-01-07T04:00:00Z', data: { job_id: uuid } },
  response_status: 200,
  asin: 'B0EXAMPLE1',
  product_id: '1729384756012345678',
  product_key: 'wireless-mouse-2-4-ghz',
  shop_domain: 'toko-7',
  formattedId: 'COM-60021-00042',
  sku: 'COM-60021-00042-00001',
  item_token: '0',
  suspended: false,
  title: 'Wireless mouse, 2.4 GHz',
  images: ['sg-11134207-7rbk2'],
  currency: 'SGD',
};

/** Examples by the full name of a field; they take precedence. */
const byFullName: Readonly<Record<string, unknown>> = {
  'gleaner.job.v1.Job.status': 'completed',
  'gleaner.account.v1.Account.name': 'Ann',
  'gleaner.account.v1.Delivery.error': '',
  'gleaner.account.v1.Webhook.url': 'https://hooks.example.com/gleaner',
  'gleaner.account.v1.SetWebhookRequest.url': 'https://hooks.example.com/gleaner',
  'gleaner.account.v1.ListLedgerEntriesResponse.next_page_token': '',
  'gleaner.account.v1.LedgerEntry.key': `charge:${uuid}`,
  'gleaner.account.v1.LedgerEntry.amount': -10,
  'gleaner.account.v1.LedgerEntry.type': 'charge',
  'gleaner.account.v1.LedgerEntry.note': '',
  'gleaner.account.v1.LedgerLine.key': `charge:${uuid}`,
  'gleaner.account.v1.LedgerLine.amount': -10,
  'gleaner.account.v1.LedgerLine.type': 'charge',
  'gleaner.account.v1.LedgerLine.note': '',
  'gleaner.job.v1.FailedItem.error': 'The product page does not exist.',
  'gleaner.job.v1.ResultFile.name': 'result.jsonl.gz',
  'gleaner.job.v1.ResultFile.bytes': 20480,
  'gleaner.job.v1.ResultLineFile.name': 'result.json',
  'gleaner.job.v1.Job.user_name': '',
  'gleaner.job.v1.Job.region': 'sg',
  'gleaner.job.v1.Job.retry_of': '',
  'gleaner.job.v1.Job.reread_of': '',
  'gleaner.job.v1.Job.waiting_for': '',
  'gleaner.job.v1.Unit.status': 'FAILED',
  'gleaner.job.v1.BulkSubmitted.message': null,
  'gleaner.job.v1.BulkRetrieved.status': 'completed',
  'gleaner.job.v1.BulkRetrieved.message': null,
  'gleaner.job.v1.TasksRetrieved.status': 'completed',
  'gleaner.job.v1.Task.task_id': '6c1f6a0e-3f1a-4d51-8c7e-2f8f0b9f6b77',
  'gleaner.job.v1.Task.keyword': 'wireless mouse',
  'gleaner.job.v1.Task.list_type': 'search',
  'gleaner.job.v1.Task.status': 'SUCCESS',
  'gleaner.job.v1.GetPcRetrieved.status': 'completed',
  'gleaner.job.v1.GetPcBulkRetrieved.status': 'completed',
  'gleaner.job.v1.GetPcBulkRetrieved.message': null,
  'gleaner.job.v1.GetPcBulkTasks.tasks': [1042, 1041],
  'gleaner.job.v1.GetPcBulkSubmitted.rescrape': false,
  'gleaner.job.v1.PgntRetrieved.status': 'completed',
  'gleaner.job.v1.PgntRetrieved.progress': '1/1 URLs complete',
  'gleaner.job.v1.PgntItem.url': 'https://mkta.example.sg/search?keyword=mouse',
  'gleaner.job.v1.PgntItem.status': 'SUCCESS',
  'gleaner.job.v1.PgntItem.download_url': `/v1/mkta/pgnt/jobs/${uuid}/items/0/data`,
  'gleaner.job.v1.VariantSoldRetrieved.status': 'completed',
  'gleaner.job.v1.VariantSoldRetrieved.job_status': 'completed',
  'gleaner.job.v1.VariantSoldRetrieved.progress': '1/1 batches complete',
  'gleaner.job.v1.VariantSoldBatch.status': 'SUCCESS',
  'gleaner.job.v1.VariantSoldDownload.status': 'completed',
  'gleaner.job.v1.VariantSoldItem.status': 'SUCCESS',
  'gleaner.job.v1.DiscountText.text': '-20%',
};

/**
 * Returns the example of a field in the OpenAPI document; undefined to derive one from its type and
 * rules.
 */
export function exampleOf(field: DescField): unknown {
  const fullName = `${field.parent.typeName}.${field.name}`;
  if (Object.hasOwn(byFullName, fullName)) return byFullName[fullName];
  const name = restName(field);
  if (field.proto.proto3Optional || !Object.hasOwn(byName, name)) return undefined;
  const example = byName[name];
  return fits(field, example) ? example : undefined;
}

/**
 * Returns true if an example by name has the type of the field: names have different types in
 * different messages.
 */
function fits(field: DescField, example: unknown): boolean {
  if (field.fieldKind === 'list') return Array.isArray(example);
  if (field.message?.typeName === 'google.protobuf.Timestamp') return true;
  if (field.scalar === undefined) return false;
  if (getOption(field, jsonOption)) return typeof example === 'object';
  return typeof example === jsonTypeOf(field.scalar);
}

/** Returns the type of a scalar in the example of a body. */
function jsonTypeOf(scalar: ScalarType): 'string' | 'boolean' | 'number' {
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return 'string';
  return scalar === ScalarType.BOOL ? 'boolean' : 'number';
}
