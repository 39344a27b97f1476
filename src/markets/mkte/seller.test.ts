import { describe, expect, it } from 'vitest';
import { parseHtml } from '../html/html.ts';
import { readSeller } from './seller.ts';

describe('sellers', () => {
  it.each([
    ['<div id="merchant-info">Ships from and sold by Amazon.com.</div>', 'Amazon.com'],
    ['<div id="merchant-info">Verkauf und Versand durch Amazon.</div>', 'Amazon'],
    ['<div id="merchant-info">この商品は、Amazon.co.jp が販売、発送します。</div>', 'Amazon.co.jp'],
    [
      '<div id="tabular-buybox"><span class="tabular-buybox-text" tabular-attribute-name="Ships from">X</span><span class="tabular-buybox-text" tabular-attribute-name="Sold by">Blue</span></div>',
      'Blue',
    ],
    [
      '<div id="merchant-info">Ships from and sold by Amazon Digital Services LLC. Gift-wrap available.</div>',
      'Amazon Digital Services LLC',
    ],
    [
      '<div id="merchant-info">Sold by Amazon Outlet and Fulfilled by Amazon.</div>',
      'Amazon Outlet',
    ],
    ['<div id="merchant-info">Vendido por Amazon Segunda mano.</div>', null],
    ['<div id="merchant-info">Dispatched from and sold by Amazon EU S.a.r.L.</div>', null],
    ['<div id="merchant-info">Sold by Blue and Fulfilled by Amazon.</div>', null],
  ])('are read from %s', (html, name) =>
    expect(readSeller(parseHtml(html), 'new').name).toBe(name),
  );
});
