import {
  EmptySchema,
  SourceCodeInfoSchema,
  StructSchema,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { checkBinarySize, checkJsonSize } from './body-content.ts';

const item = '{"item_id":"1","shop_id":"2","a":"3","b":"4","c":"5","d":"6","e":"7","f":"8"}';

test('accepts 50,000 items of eight fields', () => {
  const items = Array.from({ length: 50_000 }, () => item).join();
  expect(() => checkJsonSize(Buffer.from(`{"items":[${items}]}`))).not.toThrow();
  // Field 1 of three bytes.
  const binary = Buffer.concat(
    Array.from({ length: 50_000 }, () => Buffer.from([0x0a, 3, 1, 2, 3])),
  );
  expect(() => checkBinarySize(binary, EmptySchema)).not.toThrow();
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
  expect(() => checkBinarySize(bytes, EmptySchema)).toThrow('more values');
});

/** Returns a field with a length: its number below 16, and its content. */
function lengthPrefixed(number: number, content: Buffer): Buffer {
  const head = [number * 8 + 2];
  let { length } = content;
  for (; length > 127; length = Math.floor(length / 128)) head.push((length % 128) + 128);
  return Buffer.concat([Buffer.from([...head, length]), content]);
}

test('accepts a binary body of 50,000 items of eight fields', () => {
  // Leading comments are a single value of a location.
  const item = lengthPrefixed(1, Buffer.alloc(24, Buffer.from([0x1a, 1, 0x61])));
  const items = (count: number) => Buffer.alloc(item.length * count, item);
  expect(() => checkBinarySize(items(50_000), SourceCodeInfoSchema)).not.toThrow();
  const single = lengthPrefixed(1, Buffer.alloc(3_900_000, Buffer.from([0x1a, 1, 0x61])));
  expect(() => checkBinarySize(single, SourceCodeInfoSchema)).toThrow('more values');
});

test('counts the values of nested messages, maps, and packed lists', () => {
  // A location has the packed path 1, and leading comments 6.
  const path = lengthPrefixed(1, lengthPrefixed(1, Buffer.alloc(130_000, 1)));
  expect(() => checkBinarySize(path, SourceCodeInfoSchema)).toThrow('more values');
  const comments = lengthPrefixed(1, lengthPrefixed(6, Buffer.alloc(130_000, 1)));
  expect(() => checkBinarySize(comments, SourceCodeInfoSchema)).not.toThrow();
  // A map entry with a list of empty values.
  const values = lengthPrefixed(6, Buffer.alloc(260_000, Buffer.from([0x0a, 0])));
  const entry = lengthPrefixed(1, lengthPrefixed(2, values));
  expect(() => checkBinarySize(entry, StructSchema)).toThrow('more values');
  let deep = Buffer.alloc(0);
  for (let level = 0; level < 60; level += 1)
    deep = lengthPrefixed(6, lengthPrefixed(1, deep)) as never;
  expect(() => checkBinarySize(deep, ValueSchema)).toThrow('100 levels');
});

test.each([
  ['a group', [0xc3, 0x3e, 0xc4, 0x3e, 0x12, 0], 'wire type 3 is not supported'],
  ['the end of a group', [0x0c], 'wire type 4 is not supported'],
  ['wire type 6', [0x0e], 'wire type 6 is not supported'],
  ['wire type 7', [0x0f], 'wire type 7 is not supported'],
  ['a varint of 11 bytes', [0x08, ...Array(10).fill(0x80), 0], 'more than 10 bytes'],
  ['a varint that is cut short', [0x08, 0x80], 'ends after its message'],
  ['a length past the end', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1], 'ends after its message'],
  ['a fixed value past the end', [0x0d, 1], 'ends after its message'],
])('refuses a binary body with %s', (_name, bytes, message) => {
  expect(() => checkBinarySize(Buffer.from(bytes), EmptySchema)).toThrow(message);
});
