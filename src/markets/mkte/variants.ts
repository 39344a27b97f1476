import type { Json, JsonObject } from '../../base/json.ts';
import { list, object, objects, text } from '../fields.ts';
import {
  attribute,
  type Element,
  find,
  findAll,
  type HtmlPage,
  scriptText,
  words,
  workOf,
} from '../html/html.ts';
import { jsonAfter } from '../json/script-json.ts';

/** A variant in the page's list. */
interface Variant {
  asin: string;
  title: string | null;
}

/** Form of ASINs. */
export const asinPattern = /^[A-Z0-9]{10}$/;

/** Returns the page's scripts that contain a marker. */
export function scriptsWith(page: HtmlPage, marker: string): string[] {
  return findAll(page.root, 'script')
    .map(scriptText)
    .filter((source) => source.includes(marker));
}

/** Returns the first JSON value after a marker in the page's scripts. */
export function scriptValue(page: HtmlPage, marker: string): Json | undefined {
  for (const source of scriptsWith(page, marker)) {
    const value = jsonAfter(source, marker, workOf(page.root));
    if (value !== undefined) return value;
  }
  return undefined;
}

function joined(values: readonly (string | null)[]): string | null {
  return text(values.filter((value) => value !== null).join(', '));
}

/**
 * Returns the variants' values by ASIN; if that map is missing, from "0_1" → ASIN and the values by
 * dimension.
 */
function fromMaps(page: HtmlPage): Variant[] {
  const displayValues = Object.entries(object(scriptValue(page, 'dimensionValuesDisplayData')));
  if (displayValues.length > 0)
    return displayValues.map(([asin, values]) => ({ asin, title: joined(list(values).map(text)) }));
  const values = object(scriptValue(page, 'variationValues'));
  const named = list(scriptValue(page, '"dimensions"')).map(String);
  const dimensions = named.length > 0 ? named : Object.keys(values);
  return Object.entries(object(scriptValue(page, 'dimensionToAsinMap'))).map(([places, asin]) => ({
    asin: String(asin),
    title: joined(
      places
        .split('_')
        .map((valueIndex, at) => text(list(values[dimensions[at] ?? ''])[Number(valueIndex)])),
    ),
  }));
}

function fromSortedValues(page: HtmlPage): Variant[] {
  return Object.values(object(scriptValue(page, 'sortedDimValuesForAllDims'))).flatMap((values) =>
    objects(values).map((value) => ({
      asin: String(value.defaultAsin),
      title: text(value.dimensionValueDisplayText),
    })),
  );
}

function swatchTitle(swatch: Element): string | null {
  const label = find(
    swatch,
    '.swatch-title-text-display, .swatch-title-text, .twisterTextDiv, .a-size-base',
  );
  return attribute(find(swatch, 'img[alt]'), 'alt') ?? words(label);
}

function fromSwatches(page: HtmlPage): Variant[] {
  const swatches = [...page.ids]
    .filter(([id]) => /^(?:inline-twister-row-|variation_)/.test(id))
    .flatMap(([, rows]) =>
      rows.flatMap((row) =>
        findAll(row, 'li[data-asin], li[data-defaultasin], option[value*=","]'),
      ),
    );
  return swatches.map((swatch) => ({
    asin:
      attribute(swatch, 'data-asin') ??
      attribute(swatch, 'data-defaultasin') ??
      swatch.attribs.value?.split(',')[1] ??
      '',
    title: swatch.name === 'option' ? words(swatch) : swatchTitle(swatch),
  }));
}

/** Returns the ASIN of the variants' parent product. Null if the page names none but its own. */
export function parentAsin(page: HtmlPage, asin: string): string | null {
  for (const source of scriptsWith(page, 'parentAsin')) {
    const parent = /["']parentAsin["']\s{0,5}:\s{0,5}["']([A-Z0-9]{10})["']/.exec(source)?.[1];
    if (parent !== undefined && parent !== asin) return parent;
  }
  return null;
}

/**
 * Returns the page's variants including itself, in the page's order: from the scripts' maps,
 * otherwise from the swatches. `title` is the joined values. `price` is null, because the maps have
 * no prices, and prices in swatches are often for members or used items.
 */
export function readVariants(page: HtmlPage): JsonObject[] {
  for (const source of [fromMaps, fromSortedValues, fromSwatches]) {
    const found = source(page).filter(({ asin }) => asinPattern.test(asin));
    const byAsin = new Map(found.toReversed().map((variant) => [variant.asin, variant]));
    const unique = found.filter((variant) => byAsin.get(variant.asin) === variant);
    if (unique.length > 0) return unique.map(({ asin, title }) => ({ asin, title, price: null }));
  }
  return [];
}
