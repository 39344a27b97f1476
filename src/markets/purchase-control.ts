import { type Element, oneLine } from './html.ts';
import { buyActions, buyNames, buyWords, soldOutWords } from './purchase-words.ts';
import { namesOf, shortText } from './visible-text.ts';

/** A control that buys the product, or that says that it cannot be bought. */
export interface PurchaseControl {
  element: Element;
  text: string;
  isSoldOut: boolean;
  isDisabled: boolean;
}

const controlNames: ReadonlySet<string> = new Set(['button', 'input', 'a', 'img']);

/** Returns a control that buys the product of a page, or null for another element. */
export function controlOf(element: Element): PurchaseControl | null {
  const { name, attribs } = element;
  const names = [namesOf(element), attribs.name].join(' ');
  const isActive = attribs.role === 'button' || attribs.onclick !== undefined;
  const isButton = controlNames.has(name) || isActive || /buy|cart|basket/i.test(names);
  if (!isButton || (name === 'input' && !/^(?:submit|button|image)$/i.test(attribs.type ?? ''))) return null;
  const written = name === 'input' ? (attribs.value ?? attribs.alt ?? '') : (shortText(element, 60) ?? '');
  const labels = [written, attribs['aria-label'], attribs.title].map((label) => oneLine(label ?? '') ?? '');
  const link = (attribs.href ?? attribs.formaction ?? '').slice(0, 300);
  const isSoldOut = labels.some((label) => soldOutWords.test(label.slice(0, 100)));
  const isWorded = labels.some((label) => buyWords.test(label.slice(0, 100)));
  const isBuy = isWorded || (controlNames.has(name) && (buyNames.test(names) || buyActions.test(link)));
  if (!isBuy && !isSoldOut) return null;
  const isDisabled =
    attribs.disabled !== undefined || attribs['aria-disabled'] === 'true' || /\bdisabled\b/.test(names);
  return { element, text: labels.find((label) => label !== '') ?? '', isSoldOut, isDisabled };
}
