import { describe, expect, test } from 'vitest';
import { buyButton, readShopPage, shopPage } from '../../../test/support/pages/shop-page.ts';

const link = (name: string) => `<a href="/c/${name.toLowerCase()}">${name}</a>`;
const home = '<a href="/">Home</a>';
const path = (body: string, name = 'breadcrumbs') => `<nav class="${name}">${body}</nav>`;
const categoryOf = (...paths: string[]) =>
  readShopPage(shopPage(`${paths.join('')}<p class="price">€ 12,50</p>${buyButton}`))?.category;

describe('a path of categories that a page shows', () => {
  test.each([
    ['with the product', path(`${home} / ${link('Cups')} / ${link('Mugs')} / Oat mug`)],
    ['with a part of its name', path(`${home} › ${link('Cups')} › ${link('Mugs')} › Our mug`)],
    ['with a link of the product', path(home + link('Cups') + link('Mugs') + link('Oat mug'))],
    ['without the product', path(`${home} > ${link('Cups')} > ${link('Mugs')}`)],
    ['after a link back', path(link('Back to cups') + home + link('Cups') + link('Mugs'))],
    [
      'in another language',
      `<div aria-label="Breadcrumb"><ol><li>${home}<li>${link('Cups')}<li>${link('Mugs')}</ol></div>`,
    ],
  ])('is read %s', (_name, html) => {
    expect(categoryOf(html)).toBe('Home > Cups > Mugs');
    expect(categoryOf(html, html)).toBe('Home > Cups > Mugs');
  });

  test.each([
    ['has a step without a link', path(`${home} / ${link('Cups')} / Handmade / ${link('Mugs')}`)],
    ['ends with something else', path(`${home} / ${link('Cups')} / Clearance`)],
    ['is a menu', path(Array.from({ length: 12 }, (_, at) => link(`C${at}`)).join(''))],
    ['has one link', path(link('Results'))],
    ['is one of several', path(home + link('Cups')) + path(home + link('Gifts'))],
    ['is hidden', `<div hidden>${path(home + link('Cups'))}</div>`],
  ])('is none if it %s', (_name, html) => {
    expect(categoryOf(html)).toBeNull();
  });
});
