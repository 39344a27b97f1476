import { expect, test } from 'vitest';
import { bytesText, shareText } from './text.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_234, '1.2 kB'],
  [838_000n, '838 kB'],
  [2_500_000_000, '2.5 GB'],
] as const)('%s bytes are "%s"', (bytes, expected) => {
  expect(bytesText(bytes)).toBe(expected);
});

test.each([
  [0, '0 %'],
  [0.004, '0.4 %'],
  [0.5, '50 %'],
  [1, '100 %'],
])('a share of %d is "%s"', (share, expected) => {
  expect(shareText(share)).toBe(expected);
});
