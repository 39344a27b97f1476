import { describe, expect, test } from 'vitest';
import {
  type ApiCall,
  type ApiDocument,
  callsByTag,
  curlOf,
  fieldsOf,
  typeText,
} from './document.ts';

const item = {
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 20, description: 'Id of the item.' },
    country: { enum: ['de', 'fr'] },
  },
  required: ['id'],
};
const body = {
  type: 'object',
  properties: { items: { type: 'array', maxItems: 2000, items: { $ref: '#/components/Item' } } },
};
const call: ApiCall = {
  operationId: 'submit',
  tags: ['Jobs'],
  summary: 'Submit',
  description: '',
  responses: {},
  verb: 'POST',
  path: '/v1/jobs/{job_id}/items',
  parameters: [{ name: 'job_id', in: 'path', schema: { type: 'string' }, example: 'a b' }],
  requestBody: {
    content: { 'application/json': { schema: body, example: { items: [{ id: "it's" }] } } },
  },
};
const api = {
  info: { title: 'API', version: '1', description: '' },
  servers: [{ url: 'http://gleaner.test' }],
  tags: [{ name: 'Jobs', description: 'Jobs of every kind.' }],
  paths: { [call.path]: { post: call } },
  components: { Item: item },
} as ApiDocument;

test('callsByTag() returns the calls with their addresses', () => {
  expect(callsByTag(api)).toMatchObject([
    {
      name: 'Jobs',
      text: 'Jobs of every kind.',
      calls: [{ operationId: 'submit', verb: 'POST', path: call.path }],
    },
  ]);
});

test('fieldsOf() lists the fields of nested objects, with their types and limits', () => {
  expect(fieldsOf(api, body)).toEqual([
    { name: 'items', type: 'array of object, up to 2,000 entries', isRequired: false, text: '' },
    {
      name: 'items[].id',
      type: 'string, up to 20 characters',
      isRequired: true,
      text: 'Id of the item.',
    },
    { name: 'items[].country', type: '"de" | "fr"', isRequired: false, text: '' },
  ]);
});

test('typeText() names the alternatives of a value', () => {
  expect(typeText(api, { anyOf: [{ type: 'string', format: 'uuid' }, { type: 'null' }] })).toBe(
    'string, uuid or null',
  );
});

describe('curlOf()', () => {
  test('fills in the examples, and quotes them for a shell', () => {
    expect(curlOf(api, call, '')).toBe(
      `curl 'http://gleaner.test/v1/jobs/a%20b/items' \\\n  -H "Authorization: Bearer $KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"items":[{"id":"it'\\''s"}]}'`,
    );
  });

  test('contains the key of the reader, and none for a public call', () => {
    const get = { ...call, verb: 'DELETE', requestBody: undefined };
    expect(curlOf(api, get, 'gl_1')).toBe(
      `curl -X DELETE 'http://gleaner.test/v1/jobs/a%20b/items' \\\n  -H 'Authorization: Bearer gl_1'`,
    );
    expect(curlOf(api, { ...get, security: [] }, 'gl_1')).not.toContain('gl_1');
  });
});
