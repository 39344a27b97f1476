import { describe, expect, test } from 'vitest';
import { expectLinear } from '../../../test/support/time/cost.ts';
import { parseHtml } from '../html/html.ts';
import { isSamePage, movedFault, refreshAddress, refreshFault } from './redirects.ts';

const shop = 'https://kiln.example';
const urlOf = (address: string) => new URL(address, shop);

describe('isSamePage()', () => {
  test.each([
    ['/p/oat-mug', '/p/oat-mug/'],
    ['/p/Oat-Mug', 'http://www.kiln.example/p/oat-mug.html?utm=1'],
    ['/p/oat-mug?utm=1', '/p/oat-mug'],
    ['/p/oat-mug', '/p/oat-mug?variant=7'],
    ['/p/oat-mug', '/en/p/oat-mug'],
    ['/c/mugs/oat-mug', '/oat-mug'],
    ['/oat-mug', '/oat-mug/p'],
    ['/p/12345', '/p/oat-mug-12345'],
    ['/p/12345-old-name', '/p/12345-new-name'],
    ['/product.php?id=12', '/12-oat-mug'],
    ['/p/mug-12345.html', '/mug?sku=12345'],
    ['/search?q=mug', '/search?q=mug&page=1'],
    ['/%E0%A4%A', '/%E0%A4%A'],
  ])('is true for %s and %s', (requested, target) =>
    expect(isSamePage(urlOf(requested), urlOf(target))).toBe(true),
  );

  test.each([
    ['/p/oat-mug', '/p/red-bowl'],
    ['/p/oat-mug', '/p/oat-mug-blue'],
    ['/p/oat-mug', '/c/mugs'],
    ['/c/mugs/oat-mug', '/c/mugs'],
    ['/c/mugs', '/c/mugs/small'],
    ['/p/oat-mug', '/search?q=oat-mug'],
    ['/p/oat-mug', '/search/oat-mug'],
    ['/p/12345', '/p/67890'],
    ['/item/12345/detail', '/item/67890/detail'],
    ['/p/oat-mug?variant=7', '/p/oat-mug'],
    ['/p/oat-mug?variant=7', '/p/oat-mug?variant=8'],
    ['/product.php?id=12', '/product.php'],
    ['/search?q=mug', '/search?q=cup'],
    ['/p/oat-mug', '/'],
  ])('is false for %s and %s', (requested, target) =>
    expect(isSamePage(urlOf(requested), urlOf(target))).toBe(false),
  );
});

describe('movedFault()', () => {
  test.each([
    ['/p/oat-mug', '/p/oat-mug#a', undefined],
    ['/p/unusual-mug', 'http://www.kiln.example/p/unusual-mug', undefined],
    ['/', '/', undefined],
    ['/p/oat-mug', '/', 'page_not_found'],
    ['/p/oat-mug', '/en/', 'page_not_found'],
    ['/p/oat-mug', '/index.html', 'page_not_found'],
    ['/p/oat-mug', '/404', 'page_not_found'],
    ['/p/oat-mug', '/errors/page-not-found.html', 'page_not_found'],
    ['/p/oat-mug', '/login?next=/p/oat-mug', 'page_login'],
    ['/p/oat-mug', '/captcha', 'page_blocked'],
    ['/p/oat-mug', '/choose-country', 'page_region'],
    ['/p/oat-mug', '/en-us/p/oat-mug', 'page_region'],
    ['/de/p/oat-mug', '/fr/p/oat-mug', 'page_region'],
    ['/p/oat-mug', 'https://kiln.co.uk/p/oat-mug', 'page_region'],
    ['/p/oat-mug', '/p/red-bowl', 'page_mismatch'],
  ])('classifies %s that leads to %s as %s', (requested, target, code) =>
    expect(movedFault(urlOf(requested), urlOf(target))?.code).toBe(code),
  );

  test('takes linear time', () => {
    const long = urlOf(`/p/${'a-1234/'.repeat(20_000)}?${'id=1&q=a&'.repeat(20_000)}`);
    expectLinear(() => movedFault(long, urlOf('/p/b')), [long.href]);
    expectLinear(() => movedFault(urlOf('/p/b'), long), [long.href]);
  });
});

describe('refreshAddress()', () => {
  const page = (content: string) =>
    parseHtml(`<head><meta http-equiv="Refresh" content="${content}"></head>`);

  test.each([
    ['0; url=/p/2', '/p/2'],
    ['0;URL= &quot;/p/2&quot;', '/p/2'],
    ['1.5, https://kiln.example/', 'https://kiln.example/'],
    ['300; url=/p/2', null],
    ['0', null],
    ['', null],
  ])('is for %j %j', (content, address) => expect(refreshAddress(page(content))).toBe(address));

  test('ignores addresses for visitors without scripts', () => {
    const html = '<noscript><meta http-equiv="refresh" content="0; url=/plain"></noscript>';
    expect(refreshAddress(parseHtml(html))).toBeNull();
  });

  test.each([
    ['/login', 'page_login'],
    ['/captcha', 'page_blocked'],
    ['/', 'page_failed'],
  ])('leads to %s with the fault %s', (address, code) =>
    expect(refreshFault(page(`0; url=${address}`))?.code).toBe(code),
  );
});
