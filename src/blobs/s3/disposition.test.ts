import { expect, test } from 'vitest';
import { contentDisposition } from './disposition.ts';

test.each([
  ['full_1.json', 'attachment; filename="full_1.json"'],
  ['a "b".csv', `attachment; filename="a _b_.csv"; filename*=UTF-8''a%20%22b%22.csv`],
  ["kết'(1)*.json", `attachment; filename="k_t'(1)*.json"; filename*=UTF-8''k%E1%BA%BFt%27%281%29%2A.json`],
  ['a\r\nX: y', `attachment; filename="a__X: y"; filename*=UTF-8''a%0D%0AX%3A%20y`],
])('contentDisposition() encodes %j', (name, expected) => {
  expect(contentDisposition(name)).toBe(expected);
});
