import { expect, test } from 'vitest';
import { checkBinarySize, checkJsonSize } from './body-content.ts';

const item = '{"item_id":"1","shop_id":"2","a":"3","b":"4","c":"5","d":"6","e":"7","f":"8"}';

test('accepts 50,000 items of eight fields', () => {
  const items = Array.from({ length: 50_000 }, () => item).join();
  expect(() => checkJsonSize(Buffer.from(`{"items":[${items}]}`))).not.toThrow();
  // Field 1 of three bytes.
  const binary = Buffer.concat(Array.from({ length: 50_000 }, () => Buffer.from([0x0a, 3, 1, 2, 3])));
  expect(() => checkBinarySize(binary)).not.toThrow();
});

test.each([
  ['empty objects', '{},'.repeat(200_000)],
  ['empty lists', '[],'.repeat(200_000)],
  ['members', '"a":1,'.repeat(700_000)],
  ['numbers', '1,'.repeat(1_300_000)],
])('refuses a JSON body of too many %s', (_name, text) => {
  expect(() => checkJsonSize(Buffer.from(`{"items":[${text}{}]}`))).toThrow('more values');
});

test.each([
  ['empty messages', [0x0a, 0]],
  ['varints', [0x08, 0x81, 0x01]],
  ['fixed values', [0x0d, 1, 2, 3, 4]],
])('refuses a binary body of too many %s', (_name, field) => {
  const bytes = Buffer.concat(Array.from({ length: 130_000 }, () => Buffer.from(field)));
  expect(() => checkBinarySize(bytes)).toThrow('more values');
});

test('leaves a malformed binary body to the parser', () => {
  expect(() => checkBinarySize(Buffer.alloc(1_000_000, 0x0b))).not.toThrow();
  expect(() => checkBinarySize(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1]))).not.toThrow();
});
