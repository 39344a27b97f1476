import { expect, test } from 'vitest';
import { largestPictures } from './pictures.ts';

const shop = 'https://kiln.example';

test.each([
  [
    'parameters',
    [`${shop}/a.jpg?v=1&width=100`, `${shop}/b.jpg`, `${shop}/a.jpg?v=1&width=900`],
    [`${shop}/a.jpg?v=1&width=900`, `${shop}/b.jpg`],
  ],
  ['names', [`${shop}/a_grande.jpg`, `${shop}/a_1024x1024.jpg`], [`${shop}/a_1024x1024.jpg`]],
  ['schemes', ['http://kiln.example/a.jpg', `${shop}/a.jpg`], ['http://kiln.example/a.jpg']],
  ['sizes beside the original', [`${shop}/a.jpg?w=80`, `${shop}/a.jpg`], [`${shop}/a.jpg`]],
])('pictures that differ in %s are one, in its largest size', (_name, addresses, expected) => {
  expect(largestPictures(addresses)).toEqual(expected);
});

test('pictures with other parameters and numbers are different ones', () => {
  const addresses = [
    `${shop}/a.jpg?id=1`,
    `${shop}/a.jpg?id=2`,
    `${shop}/a-1.jpg`,
    `${shop}/a-2.jpg`,
  ];
  expect(largestPictures(addresses)).toEqual(addresses);
});
