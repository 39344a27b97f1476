import { describe, expect, test } from 'vitest';
import {
  buyButton,
  jsonLd,
  readShopPage,
  shopPage,
} from '../../../test/support/pages/shop-page.ts';

const own = 'https://kiln.example/own.jpg';
const price = `<p class="price">€ 12,50</p>${buyButton}`;
const preview = `<meta property="og:image" content="${own}">`;
const bowl = '<li><h3><a href="/p/2">Bowl</a></h3><img itemprop="image" src="/bowl.jpg"></li>';
const imagesOf = (html: string) => readShopPage(html)?.images;

describe('pictures of a product', () => {
  test('are not those in cards of other products', () => {
    const markup = (body: string) =>
      shopPage(`<div itemscope itemtype="https://schema.org/Product">
        <b itemprop="name">Oat mug</b>${body}</div>`);
    const pictures = '<img itemprop="image" src="/own.jpg"><img itemprop="image" src="/side.jpg">';
    const images = [own, 'https://kiln.example/side.jpg'];
    expect(imagesOf(markup(`${pictures}<ul>${bowl}</ul>`))).toEqual(images);
    expect(imagesOf(markup(`<ul>${bowl}</ul>`))).toEqual(['https://kiln.example/bowl.jpg']);
  });

  test('are the one for previews if the page shows it', () => {
    expect(imagesOf(preview + shopPage(`<img src="/own.jpg?w=80">${price}`))).toEqual([own]);
    expect(imagesOf(preview + shopPage(`<img src="/logo.jpg">${price}`))).toEqual([]);
    expect(imagesOf(preview + shopPage(`${price}<ul>${bowl}</ul>`))).toEqual([]);
  });

  test('are those that all variants have', () => {
    const variant = (size: string, image: string) => ({ '@type': 'Product', size, image });
    const group = (...images: string[]) =>
      shopPage(jsonLd({ price: 9 }, { hasVariant: images.map((image) => variant('M', image)) }));
    expect(imagesOf(group('/own.jpg', '/own.jpg'))).toEqual([own]);
    expect(imagesOf(group('/red.jpg', '/blue.jpg'))).toEqual([]);
  });
});

test('a category is no number, and has one form of a path', () => {
  const categoryOf = (category: string) =>
    readShopPage(shopPage(jsonLd({ price: 9 }, { category })))?.category;
  expect(categoryOf('658')).toBeNull();
  expect(categoryOf('Cups < Mugs')).toBe('Cups > Mugs');
});
