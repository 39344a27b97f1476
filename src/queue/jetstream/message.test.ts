import { expect, test } from 'vitest';
import { sampleMessage } from '../conformance.ts';
import { decode, encode, encodeHeaders } from './message.ts';

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

test('decode() returns the encoded message', () => {
  for (const message of [sampleMessage(1), sampleMessage(1, { store: 'shop.example' })])
    expect(decode({ data: encode(message) }, 'bulk', 'mkta')).toEqual(message);
});

test('decode() returns the trace context in the headers', () => {
  const trace = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=1',
  };
  const message = { ...sampleMessage(1), trace };
  const headers = encodeHeaders(message);
  headers!.set('Nats-Msg-Id', '1');
  expect(decode({ data: encode(message), headers }, 'bulk', 'mkta')).toEqual(message);
  expect(encodeHeaders({ ...message, trace: {} })).toBeUndefined();
});

test.each([
  ['invalid JSON', Buffer.from('{')],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['an empty message', Buffer.alloc(0)],
  ['null', bytes(null)],
  ['a missing id', bytes({ ...sampleMessage(1), batchId: undefined })],
  ['an empty id', bytes(sampleMessage(1, { jobId: '' }))],
  ['an attempt that is not a number', bytes({ ...sampleMessage(1), attempt: '1' })],
  ['another lane', encode(sampleMessage(1, { lane: 'single' }))],
  ['another market', encode(sampleMessage(1, { market: 'mktb' }))],
])('decode() rejects %s', (_name, data) => {
  expect(decode({ data }, 'bulk', 'mkta')).toBeNull();
});
