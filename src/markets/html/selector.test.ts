import { selectAll } from 'css-select';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkProperty } from '../../../test/support/run/properties.ts';
import { find, findAll, parseHtml, workOf } from './html.ts';
import type { Element } from './html-tree.ts';
import { compileSelector, selectorProblem } from './selector.ts';

/** Steps of finding the matches of a selector in a page. */
function stepsOf(html: string, selector: string): number {
  const { root } = parseHtml(html);
  findAll(root, selector);
  return workOf(root).steps;
}

const nested = (depth: number, inner: string) =>
  '<div class="main product info">'.repeat(depth) + inner + '</div>'.repeat(depth);

describe('the steps of a selector', () => {
  const families: [string, string, (size: number) => string][] = [
    [
      'prices below nested elements',
      '.main .product .info .price',
      (size) => nested(380, prices(size)),
    ],
    [
      'four descendants',
      '.main .main .main .main b',
      (size) => nested(380, '<i></i>'.repeat(size)),
    ],
    [
      'four children',
      'div > .main > .product > .info > u',
      (size) => nested(380, '<i></i>'.repeat(size)),
    ],
    [
      'siblings of siblings',
      '.a ~ b ~ b ~ b',
      (size) => `<p><i class="a"></i>${'<b></b>'.repeat(size)}</p>`,
    ],
    ['headings beside prices', 'h2.x ~ .price', (size) => `<h2></h2>${prices(size)}`],
    ['adjacent siblings', 'b + b + b + u', (size) => '<b></b>'.repeat(size)],
    [
      'positions',
      'b:nth-child(2n+1):nth-last-of-type(3n), u:last-child',
      (size) => '<b></b>'.repeat(size),
    ],
    ['alternatives', ':is(.a, .b, .c):not(.d, .e)', (size) => '<b class="c d"></b>'.repeat(size)],
    [
      'a long attribute',
      '.a, .b, .c, [class*="z"]',
      (size) => `<b class="${'x '.repeat(100 * size)}"></b>`,
    ],
    ['comments', 'b:empty, b:last-child', (size) => `<p>${'<!-- --><b></b>'.repeat(size)}</p>`],
  ];
  const prices = (size: number) => '<b class="price">1</b>'.repeat(size);

  test.each(families)('double with the page at most: %s', (_name, selector, page) => {
    const steps = stepsOf(page(4_000), selector);
    expect(steps).toBeGreaterThan(2_000);
    expect(stepsOf(page(8_000), selector) / steps).toBeLessThan(2.2);
  });

  test('do not multiply with the depth of the page', () => {
    const page = (depth: number) => nested(depth, prices(4_000));
    const steps = stepsOf(page(190), '.main .product .info .price');
    expect(stepsOf(page(380), '.main .product .info .price') / steps).toBeLessThan(1.2);
  });

  test('end with page_too_complex', () => {
    const { root } = parseHtml('<b class="a"></b>'.repeat(200_000));
    expect(() => {
      for (let field = 0; field < 1_000; field += 1) findAll(root, `.field-${field} .value`);
    }).toThrow(expect.objectContaining({ code: 'page_too_complex' }));
  });
});

describe('compileSelector()', () => {
  const names = fc.constantFrom('a', 'b', 'p');
  const classes = fc.constantFrom('x', 'y', 'x y', 'z');
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('', 'text', '<!-- note -->'),
      fc
        .tuple(names, classes, fc.array(tie('tree'), { maxLength: 5 }))
        .map(([name, css, children]) => `<${name} class="${css}">${children.join('')}</${name}>`),
    ),
  }));
  const html = fc.array(tree, { maxLength: 6 }).map((trees) => trees.join(''));
  const condition = fc.constantFrom(
    'a',
    'b',
    '*',
    '.x',
    '.y',
    'a.x',
    '[class]',
    '[class="x y"]',
    '[class~=y]',
    '[class^=X i]',
    ':empty',
    ':first-child',
    ':last-child',
    ':only-child',
    ':first-of-type',
    ':last-of-type',
    ':only-of-type',
    ':nth-child(2n+1)',
    ':nth-child(2)',
    ':nth-last-child(-n+2)',
    ':nth-of-type(even)',
    'b:nth-last-of-type(2n)',
    ':not(.x)',
    ':not(.x, b:first-child)',
    ':is(a, .y):not(.x.y)',
    'b:where(.z)',
  );
  const combinator = fc.constantFrom(' ', ' > ', ' ~ ', ' + ');
  const complex = fc
    .tuple(condition, fc.array(fc.tuple(combinator, condition), { maxLength: 4 }))
    .map(([first, rest]) => first + rest.map((pair) => pair.join('')).join(''));
  const selectors = fc
    .tuple(
      fc.constantFrom('', '> ', ':scope > ', ':scope '),
      fc.array(complex, { minLength: 1, maxLength: 3 }),
    )
    .map(([prefix, alternatives]) =>
      alternatives.map((alternative) => prefix + alternative).join(', '),
    );

  /** Matches of css-select, without those inside other matches. */
  function expected(within: Element, selector: string): Element[] {
    const all = new Set<unknown>(selectAll<unknown, Element>(selector, within));
    const isInside = ({ parent }: Element): boolean =>
      parent !== null && (all.has(parent) || ('attribs' in parent && isInside(parent as Element)));
    return ([...all] as Element[]).filter((element) => !isInside(element));
  }

  test('finds the elements that css-select finds', () => {
    checkProperty(
      fc.property(html, selectors, (page, selector) => {
        const { root } = parseHtml(`<main class="x"><p class="y">${page}</p></main>`);
        const within = (root.children[0] as Element).children[0] as Element;
        const matches = expected(within, selector);
        expect(findAll(within, selector)).toEqual(matches);
        expect(find(within, selector)).toBe(matches[0]);
      }),
      500,
    );
  });

  test.each([
    ['li:has(a)', ':has is not supported'],
    ['a:contains("x")', ':contains is not supported'],
    ['a:hover', ':hover is not supported'],
    [':not(.a .b)', ':not with a combinator is not supported'],
    [':is(> .b)', ':is with a combinator is not supported'],
    [':is', ':is without a selector is not supported'],
    ['+ .price', 'a sibling of the searched element is not supported'],
    [':scope', ':scope alone is not supported'],
    ['a :scope b', ':scope is not supported'],
    ['a::before', 'a pseudo-element is not supported'],
    ['svg|a', 'a namespace is not supported'],
    ['[xlink|href]', 'a namespace is not supported'],
    ['a || b', 'a column-combinator is not supported'],
    ['li:nth-child(2n of .x)', 'not a CSS selector'],
    ['b '.repeat(32), 'more than 30 combinators are not supported'],
    ['.price[', 'not a CSS selector'],
  ])('refuses %j', (selector, problem) => {
    expect(selectorProblem(selector)).toBe(problem);
    expect(() => compileSelector(selector)).toThrow();
  });

  test.each([
    'a, b',
    '> li',
    ':scope > li',
    'html',
    ':root > body',
    '.a:not(.b) + p:nth-child(odd)',
    '#a[b="c" i]',
  ])('accepts %j', (selector) => {
    expect(selectorProblem(selector)).toBeNull();
  });
});
