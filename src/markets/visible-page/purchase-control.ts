import { type Element, oneLine } from '../html/html.ts';
import type { Node } from '../html/html-tree.ts';
import { namesOf, shortText } from '../html/visible-text.ts';
import {
  buyActions,
  buyCalls,
  buyNames,
  cartAddress,
  compareWords,
  contactWords,
  isBuyText,
  isCartText,
  soldOutWords,
} from './purchase-words.ts';

/** A control that buys the product, or that says that it cannot be bought. */
export interface PurchaseControl {
  element: Element;
  text: string;
  isSoldOut: boolean;
  isDisabled: boolean;
}

const controlNames: ReadonlySet<string> = new Set(['button', 'input', 'a', 'img']);

/** Maximum characters of the text of a control, and of its other labels. */
const maxText = 60;
const maxLabel = 200;

/** Returns the texts of a control: its visible text, and its labels for assistive technology. */
function labelsOf(element: Element): string[] {
  const { name, attribs } = element;
  const ownLabel = attribs.value ?? attribs.alt;
  const visibleLabel = name === 'input' ? ownLabel : shortText(element, maxText);
  const labels = [visibleLabel, attribs['aria-label'], attribs.title];
  return labels.map((label) => oneLine(label ?? '')?.slice(0, maxLabel) ?? '');
}

const isBlank = (node: Node | null) =>
  node === null || (node.type === 'text' && node.data.trim() === '');

/** Returns the element around another one that has nothing else in it. */
function onlyChildOf({ prev, next, parent }: Element): Element | null {
  if (parent === null || !('attribs' in parent)) return null;
  const isAlone = isBlank(prev) && isBlank(next) && !prev?.prev && !next?.next;
  return isAlone ? parent : null;
}

/**
 * Returns true if the names, the address, or the handler of an element say that it buys a product.
 */
function hasBuyName(element: Element, names: string): boolean {
  const { name, attribs } = element;
  if (!controlNames.has(name)) return false;
  const link = (attribs.href ?? attribs.formaction ?? '').slice(0, 300);
  if (buyActions.test(link) || buyCalls.test(link)) return true;
  const isCartLink = name === 'a' && cartAddress.test(link) && !/add|buy/i.test(names);
  if (isCartLink) return false;
  if (buyNames.test(names)) return true;
  const handler = attribs.onclick?.slice(0, 300) ?? '';
  if (buyCalls.test(handler)) return true;
  const outer = onlyChildOf(element);
  return outer !== null && buyNames.test(namesOf(outer));
}

function isButton({ name, attribs }: Element, names: string): boolean {
  if (name === 'input') return /^(?:submit|button|image)$/i.test(attribs.type ?? '');
  const isActive = attribs.role === 'button' || attribs.onclick !== undefined;
  return controlNames.has(name) || isActive || /buy|cart|basket/i.test(names);
}

/** Returns a control that buys the product of a page, or null for another element. */
export function controlOf(element: Element): PurchaseControl | null {
  const { attribs } = element;
  const names = [namesOf(element), attribs.name].join(' ');
  if (!isButton(element, names)) return null;
  const labels = labelsOf(element);
  const isSoldOut = labels.some((label) => soldOutWords.test(label));
  if (!isSoldOut && !labels.some(isBuyText) && !hasBuyName(element, names)) return null;
  const isDisabled =
    attribs.disabled !== undefined ||
    attribs['aria-disabled'] === 'true' ||
    /\bdisabled\b/.test(names);
  return {
    element,
    text: labels.find((label) => label !== '') ?? '',
    isSoldOut,
    isDisabled,
  };
}

/** Returns true for a link or button with a text. */
function hasLabel(element: Element, words: RegExp): boolean {
  const { name, attribs } = element;
  const isControl = name === 'button' || name === 'a' || attribs.role === 'button';
  return isControl && labelsOf(element).some((label) => words.test(label));
}

/** Returns true for a control that writes to or calls the seller of an ad. */
export const isContactControl = (element: Element): boolean => hasLabel(element, contactWords);

/** Returns true for a control that compares the offers of several shops. */
export const isCompareControl = (element: Element): boolean => hasLabel(element, compareWords);

/** Returns true for a control that puts a product into the cart. */
export function isCartControl(element: Element): boolean {
  const { name, attribs } = element;
  const isControl =
    name === 'input' ? attribs.type === 'submit' : name === 'button' || name === 'a';
  return isControl && labelsOf(element).some(isCartText);
}
