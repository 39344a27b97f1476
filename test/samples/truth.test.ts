import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ratesOf, scoreFolder } from './truth.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-truth-'));
  const url = 'https://kiln.example/p/mug';
  const truth = {
    a: { url, price: ['12.50', '13'], availability: ['InStock'], sku: ['M-1'] },
    b: { url, price: ['9'], sku: [] },
  };
  const page = (price: number) =>
    `<h1>Mug</h1><script type="application/ld+json">${JSON.stringify({
      '@type': 'Product',
      name: 'Mug',
      sku: 'M-1',
      offers: { price, availability: 'InStock' },
    })}</script>`;
  await writeFile(join(folder, 'truth.json'), JSON.stringify(truth));
  await writeFile(join(folder, 'a.html.gz'), gzipSync(page(12.5)));
  await writeFile(join(folder, 'b.html.gz'), gzipSync(page(7)));
});
afterAll(() => rm(folder, { recursive: true }));

describe('scoreFolder()', () => {
  test('counts right, false, and missing values of each field', async () => {
    const { pageCount, scores, wrong } = await scoreFolder(folder);
    expect(pageCount).toBe(2);
    expect(scores).toEqual({
      price: { right: 1, false: 1, missing: 1 },
      availability: { right: 1, false: 1, missing: 0 },
      sku: { right: 1, false: 1, missing: 0 },
      brand: { right: 0, false: 0, missing: 0 },
      gtin: { right: 0, false: 0, missing: 0 },
    });
    expect(wrong[0]).toMatchObject({ field: 'price', expected: ['9'], got: '7' });
  });
});

test('ratesOf() returns precision, recall, and their harmonic mean', () => {
  expect(ratesOf({ right: 3, false: 1, missing: 1 })).toEqual({
    precision: 0.75,
    recall: 0.75,
    f1: 0.75,
  });
  expect(ratesOf({ right: 0, false: 0, missing: 2 })).toEqual({ precision: 0, recall: 0, f1: 0 });
});
