import { expect, it } from 'vitest';
import { exactCount, ratingIn, ratingText, roughCount } from './numbers.ts';

it.each([
  ['4.2 out of 5 stars', '4.2'],
  ['4,3 von 5 Sternen', '4.3'],
  ['4.8 von 5 Sternen', '4.8'],
  ['4,3 de 5 estrellas', '4.3'],
  ['4,5 su 5 stelle', '4.5'],
  ['4,5 sur 5 étoiles', '4.5'],
  ['5つ星のうち3.4', '3.4'],
  ['5つ星のうち 5.0', '5.0'],
  ['5.0 out of 5 stars', '5.0'],
  ['5 out of 5 stars', '5'],
  ['별 5개 중 4.5개', '4.5'],
  ['Prime', null],
  ['120 ratings', null],
  ['3 ratings', null],
  ['1.2K ratings', null],
  ['4.5 out of 10', null],
  ['5 stars, 1,204 ratings', null],
  ['4.5', '4.5'],
  ['4 stars', '4'],
  [null, null],
])('parses the rating in %j as %j', (text, rating) => {
  expect(ratingText(text)).toBe(rating);
  expect(ratingIn(text)).toBe(rating === null ? null : Number(rating));
});

it.each([
  ['422 ratings', '422', 422],
  ['(1,596)', '1596', 1596],
  ['5.182 valoraciones', '5182', 5182],
  ['14,656 Kundenrezensionen', '14656', 14656],
  ['1\u202f234 évaluations', '1234', 1234],
  ['12 Meinungen', '12', 12],
  ['12 median', '12', 12],
  ['3,326 レーティング', '3326', 3326],
  ['860件のグローバル評価', '860', 860],
  ['(84.7K)', null, 84700],
  ['8,4 mil', null, 8400],
  ['1.2万', null, 12000],
  ['12千件', null, 12000],
  ['1.2萬', null, 12000],
  ['1,2 tys. ocen', null, 1200],
  ['12 lakh ratings', null, 1_200_000],
  ['12,34,567 ratings', null, null],
  ['2,3 tn', null, null],
  ['No reviews', null, null],
  [`${'1'.repeat(1_000_000)}.1`, null, null],
  [null, null, null],
])('parses the count in %.40j as %j exactly and %j as a lower bound', (text, exact, rough) => {
  expect(exactCount(text)).toBe(exact);
  expect(roughCount(text)).toBe(rough);
});
