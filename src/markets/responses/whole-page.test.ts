import { expect, test } from 'vitest';
import { parseHtml } from '../html/html.ts';
import { checkWhole } from './whole-page.ts';

const page = '<!doctype html><html><head><title>Mug</title></head><body><p>Mug</p></body></html>';
const check = (html: string) => checkWhole(html, parseHtml(html), 'the page');

test.each([
  page,
  `${page}\n<!-- served by cache -->`,
  page.replace('<p>', '<iframe srcdoc="<html><body></body></html>"></iframe><p>'),
  page.replace('</html>', ''),
  '<!doctype html><title>Mug</title><p>Mug',
  '<html lang=en><title>Mug</title><body><p>Mug',
  'Mug',
])('checkWhole() accepts %j', (html) => expect(() => check(html)).not.toThrow());

test.each([
  [page.slice(0, -20), /cut off after \d+ characters/],
  [page.slice(0, 40), /cut off/],
  [page + page, /2 pages instead of the page/],
  [page + page.replaceAll('Mug', 'Bowl').replace('<!doctype html>', ''), /2 pages/],
])('checkWhole() refuses %j', (html, message) =>
  expect(() => check(html)).toThrow(
    expect.objectContaining({ code: 'page_unreadable', message: expect.stringMatching(message) }),
  ),
);
