import { Fault } from '../../contract/fault.ts';
import {
  allById,
  attribute,
  byId,
  type Element,
  find,
  findAll,
  type HtmlPage,
} from '../html/html.ts';
import { asinPattern, scriptsWith } from './variants.ts';

const formInputs = 'input[name="ASIN"], input[name="ASIN.0"]';
/** The buy box, by layout. */
const ownForms = '#addToCart, #handleBuy, #buybox, #desktop_buybox, #qualifiedBuybox';

function asinIn(url: string | null): string | null {
  return /\/(?:dp|gp\/product)\/([A-Z0-9]{10})(?=[/?#]|$)/.exec(url ?? '')?.[1] ?? null;
}

/**
 * Returns the ASINs that the page states for itself: from the buy box's form, otherwise from
 * scripts and reviews, otherwise from any form, as lists of other products have forms too. Empty if
 * there are none.
 */
function ownAsins(page: HtmlPage): Set<string> {
  const valuesOf = (inputs: readonly Element[]) => inputs.map((input) => attribute(input, 'value'));
  const own = valuesOf([
    ...allById(page, 'ASIN'),
    ...findAll(page.root, ownForms).flatMap((form) => findAll(form, formInputs)),
  ]);
  const scripts = ['landingAsin', 'currentAsin'].flatMap((name) =>
    scriptsWith(page, name).map(
      (source) =>
        new RegExp(`["']${name}["']\\s{0,5}:\\s{0,5}["']([A-Z0-9]{10})["']`).exec(source)?.[1] ??
        null,
    ),
  );
  const blocks = [
    'averageCustomerReviews',
    'cerberus-data-metrics',
    'dp-container',
    'title_feature_div',
  ].flatMap((id) => [
    attribute(byId(page, id), 'data-asin'),
    attribute(byId(page, id), 'data-csa-c-asin'),
  ]);
  const formAsins = valuesOf(findAll(page.root, formInputs));
  for (const source of [own, [...scripts, ...blocks], formAsins]) {
    const asins = source.filter((asin): asin is string => asin !== null && asinPattern.test(asin));
    if (asins.length > 0) return new Set(asins);
  }
  return new Set();
}

/**
 * Checks that a page is about the requested product. Throws `page_mismatch`. The canonical link
 * counts only if form, scripts and reviews name no ASIN, because it can name the parent or a
 * sibling. A page that names no product passes, unless the store led to it at the address of
 * another one, `url`. The message names the product of the page, and says if it is a variant of the
 * requested one.
 */
export function checkAsin(
  page: HtmlPage,
  url: string,
  requestedAsin: string,
  variants: ReadonlySet<string>,
): void {
  const own = ownAsins(page);
  const canonical = asinIn(attribute(find(page.root, 'link[rel="canonical"]'), 'href'));
  const urlAsin = asinIn(url);
  const isLed = urlAsin !== null && urlAsin !== requestedAsin;
  const isSame = canonical === null || canonical === requestedAsin || variants.has(requestedAsin);
  if (own.size === 0 && isSame && !isLed) return;
  if (own.has(requestedAsin)) return;
  const pageAsin = [...own][0] ?? (isLed ? urlAsin : canonical);
  const what = variants.has(requestedAsin)
    ? `shows variant ${pageAsin} of the product`
    : `is about product ${pageAsin}`;
  throw new Fault('page_mismatch', `the page ${what}, not ${requestedAsin}`);
}
