import type { Candidate } from '../candidates/candidates.ts';
import { decodedPath } from '../fields.ts';
import type { Element } from '../html/html.ts';
import { namesOf, shortText } from '../html/visible-text.ts';
import { anyOf } from '../patterns.ts';
import { skuLabels, skuNames } from './element-names.ts';
import { pageCandidate } from './evidence.ts';
import { maxLabelled, valueAfter } from './label-candidates.ts';
import type { VisiblePage } from './visible-page.ts';

/** Maximum labels and attributes of a page that are considered. */
const maxLabels = 100;
const maxAttributes = 500;

const code = /^[#:\s]*((?=[^\s]*\d)[\p{L}\p{N}][\p{L}\p{N}._/-]{1,38}[\p{L}\p{N}])[)\].,;]*$/u;

/** Attributes and form fields with the id of a product. */
const skuAttributes = [
  'data-sku',
  'data-product-sku',
  'data-productsku',
  'data-item-sku',
  'data-article-number',
];
const idAttributes = [
  'data-product-id',
  'data-productid',
  'data-product_id',
  'data-product',
  'data-id',
  'data-pid',
  'data-item-id',
  'data-itemid',
  'data-item',
  'data-product-code',
];
const idInputs = anyOf(
  [
    'sku',
    'add-to-cart',
    '(?:products?|item|article|offer|prod)[_-]?(?:id|code|no|number)',
    'id_product',
    'pid',
    'adno',
    'id',
    'code',
  ],
  { flags: 'i', before: '^', after: '$' },
);

/** Returns the parts of an address that can be the id of a product. */
function addressCodes(url: string): Set<string> {
  const { pathname, search } = new URL(url);
  const parts = decodedPath(pathname + search).split(/[/?&=#]|\.html?$|[-_.](?=[^-_./]*$)|\.html?/);
  const numbers = pathname.match(/(?<![\p{L}\d])[a-z]{0,2}\d{4,}(?!\d)|\d{5,}/giu) ?? [];
  return new Set(
    [...parts, ...numbers].filter(
      (part) => /\d/.test(part) && part.length >= 3 && part.length <= 40,
    ),
  );
}

const isCode = (value: string | undefined): value is string =>
  value !== undefined && value.length >= 3 && value.length <= 40 && code.test(value);

/** A number of a product, its source, and the element that has it. */
interface FoundCode {
  value: string;
  source: string;
  element: Element;
}

/** Returns the numbers after labels, and in elements that are named as numbers of a product. */
function labelledCodes({ texts, fields }: VisiblePage): FoundCode[] {
  const found: FoundCode[] = [];
  const push = (text: string | null, element: Element) => {
    const value = code.exec(text ?? '')?.[1];
    if (isCode(value)) found.push({ value, source: 'label', element });
  };
  for (const visible of texts) {
    if (found.length >= maxLabels) break;
    const value = valueAfter(visible, skuLabels);
    if (value !== null) push(value.text, value.element);
  }
  for (const element of fields) {
    if (found.length >= maxLabels) break;
    if (!skuNames.test(namesOf(element))) continue;
    push(shortText(element, maxLabelled)?.replace(skuLabels, '') ?? null, element);
  }
  return found;
}

/** Attributes that can contain the number of a product, in general and in a form's field. */
const codeAttributes = [...skuAttributes, ...idAttributes];
const fieldAttributes = [...codeAttributes, 'value'];

/** Returns true for a field of a form that has the id of a product. */
const isIdField = ({ name, attribs }: Element): boolean =>
  (name === 'input' || name === 'button') && idInputs.test(attribs.name ?? '');

/**
 * Returns the numbers in the attributes of an element. Those of any id have to be in the address.
 */
function elementCodes(element: Element, addressed: ReadonlySet<string>): FoundCode[] {
  const isField = isIdField(element);
  const codes: FoundCode[] = [];
  for (const name of isField ? fieldAttributes : codeAttributes) {
    const value = element.attribs[name];
    if (!isCode(value)) continue;
    const isPossible = skuAttributes.includes(name) || addressed.has(value);
    if (isPossible) codes.push({ value, source: isField ? 'form' : name, element });
  }
  return codes;
}

/** Returns the numbers in attributes and forms. */
function attributeCodes({ fields }: VisiblePage, addressed: ReadonlySet<string>): FoundCode[] {
  const codes: FoundCode[] = [];
  for (const element of fields) {
    if (codes.length >= maxAttributes) break;
    codes.push(...elementCodes(element, addressed));
  }
  return codes;
}

/** Returns the candidates for the number under which the shop of a page sells its product. */
export function skuCandidates(page: VisiblePage, url: string): Candidate[] {
  const addressed = addressCodes(url);
  const labels = labelledCodes(page);
  const [first] = labels;
  const isOnly = new Set(labels.map(({ value }) => value)).size === 1;
  const codes = [...labels, ...attributeCodes(page, addressed)];
  if (first !== undefined && isOnly) codes.push({ ...first, source: 'only label' });
  return codes.flatMap(({ value, source, element }) => {
    const isMarked = isOnly && value === first?.value;
    const found = {
      field: 'sku',
      value,
      text: value,
      element,
      isMarked,
    };
    const candidate = pageCandidate({ ...found, source });
    return addressed.has(value)
      ? [candidate, pageCandidate({ ...found, source: 'address' })]
      : [candidate];
  });
}
