import { expect, it } from 'vitest';
import { expectLinear } from '../../../test/support/time/cost.ts';
import type { PageResponse } from '../../fetch/page.ts';
import {
  allById,
  attribute,
  bodyText,
  byId,
  find,
  findAll,
  oneLine,
  outwards,
  parseHtml,
  words,
} from './html.ts';

const createResponse = (body: Buffer, contentType = 'text/html'): PageResponse => ({
  status: 200,
  headers: { 'content-type': contentType },
  body,
  url: 'http://site.test/',
  at: 0,
});

it('finds elements by id, including duplicates, and by selector', () => {
  const page = parseHtml(
    '<div id="a"><p class="x y">1</p></div><div id="a"><p class="x">2</p></div>',
  );
  expect(allById(page, 'a')).toHaveLength(2);
  expect(words(find(byId(page, 'a'), 'p.y'))).toBe('1');
  expect(findAll(page.root, 'p.x').map((element) => words(element))).toEqual(['1', '2']);
  expect(byId(page, 'none')).toBeUndefined();
  expect(find(undefined, 'p')).toBeUndefined();
});

it('reads visible text without scripts and direction marks, with spaces between blocks only', () => {
  const page = parseHtml(
    '<div id="a">52<span>,</span>41&nbsp;€<br>a<li>b</li><script>var x</script><style>.y{}</style>\u200e:\u200f</div>',
  );
  expect(words(byId(page, 'a'))).toBe('52,41 € a b :');
  expect(words(find(parseHtml('<p> \u200e </p>').root, 'p'))).toBeNull();
});

it('skips the elements that the caller names', () => {
  const page = parseHtml('<div id="a">kept <b class="gone">not</b></div>');
  expect(words(byId(page, 'a'), (element) => element.name === 'b')).toBe('kept');
});

it('walks to the ancestors of an element', () => {
  const page = parseHtml('<div id="row"><p><i id="in"></i></p></div>');
  expect([...outwards(byId(page, 'in')!)].map(({ name }) => name)).toEqual(['i', 'p', 'div']);
  expect(attribute(byId(page, 'row'), 'class')).toBeNull();
});

it('decodes UTF-8 bytes, and others by the declared encoding', () => {
  const wrong = 'text/html; charset=iso-8859-1';
  expect(bodyText(createResponse(Buffer.from('Précio 5 €'), wrong))).toBe('Précio 5 €');
  expect(bodyText(createResponse(Buffer.from([0x46, 0xfc, 0x72]), wrong))).toBe('Für');
  expect(bodyText(createResponse(Buffer.from([0x83, 0x65]), 'text/html; charset=Shift_JIS'))).toBe(
    'テ',
  );
  const declared = Buffer.concat([Buffer.from('<meta charset="iso-8859-1">'), Buffer.from([0xe9])]);
  expect(bodyText(createResponse(declared))).toContain('é');
  expect(bodyText(createResponse(Buffer.from([0xff, 0x41]), 'text/html; charset=nonsense'))).toBe(
    '\ufffdA',
  );
});

it('decodes UTF-16 with a byte order mark, and Japanese in ASCII bytes', () => {
  const wide = Buffer.from('\ufeffPrécio 5 €', 'utf16le');
  expect(bodyText(createResponse(wide))).toBe('Précio 5 €');
  expect(bodyText(createResponse(wide.swap16()))).toBe('Précio 5 €');
  const japanese = Buffer.from('\x1b$B%F\x1b(B');
  expect(bodyText(createResponse(japanese, 'text/html; charset=ISO-2022-JP'))).toBe('テ');
});

it('decodes bytes that are not UTF-8 as the page declares if the header says UTF-8', () => {
  const page = Buffer.concat([Buffer.from('<meta charset = "gbk">'), Buffer.from([0xb1, 0xad])]);
  expect(bodyText(createResponse(page, 'text/html; charset=UTF-8'))).toContain('杯');
});

it('rejects a page with too many nodes', () => {
  expect(() => parseHtml('<br>'.repeat(300_001))).toThrow(
    expect.objectContaining({
      code: 'page_unreadable',
      message: 'the page has more than 300000 nodes',
    }),
  );
});

it.each([
  ['attributes', `<b ${Array.from({ length: 500_001 }, (_, index) => `a${index}`).join(' ')}>`],
  ['pieces of text', '<'.repeat(1_000_001)],
])('rejects a page with too many %s', (name, html) => {
  expect(() => parseHtml(`<p>${html}`)).toThrow(
    expect.objectContaining({ code: 'page_unreadable', message: expect.stringContaining(name) }),
  );
});

it('throws page_too_complex if the same text is read too often', () => {
  const { root } = parseHtml(
    `<p class="${'a '.repeat(100_000)}"><b>${'word '.repeat(100_000)}</b></p>`,
  );
  const bold = find(root, 'b')!;
  const tooComplex = expect.objectContaining({ code: 'page_too_complex' });
  expect(() => Array.from({ length: 1_000 }, () => words(bold))).toThrow(tooComplex);
  expect(() => Array.from({ length: 10_000 }, () => [...outwards(bold)])).toThrow(tooComplex);
});

it('collapses white space of any kind', () => {
  expect(oneLine(' a\n b \u00a0c\td  e ')).toBe('a b c d e');
});

it.each([
  '<div>',
  '<a><p>',
  '<b class=x></p>',
  '<table><tr><td>',
  '<',
  '<a x="',
  '<!--',
  '<script>',
  '&amp',
])('parses 5 MB of %j in linear time', { timeout: 30_000 }, (unit) => {
  const page = unit.repeat(5_000_000 / unit.length);
  expectLinear(() => {
    try {
      parseHtml(page);
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: 'page_unreadable' });
    }
  }, [page]);
});
