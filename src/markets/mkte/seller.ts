import type { JsonObject } from '../../base/json.ts';
import { allById, attribute, type Element, find, findAll, type HtmlPage, words } from '../html.ts';
import { type OfferKind, ofOffer } from './offers.ts';

/** The row of the older buy box that names the seller, by language. */
const soldBy = /sold by|verk[aä]uf|vend[ui]|venduto|販売元/i;

function idInLink(element: Element | undefined): string | null {
  return (
    /[?&](?:seller|merchant|me|m)=([A-Z0-9]{8,20})(?=&|$)/.exec(attribute(element, 'href') ?? '')?.[1] ?? null
  );
}

/** "Sold by Amazon", as the stores' languages write it: the store itself, as the text names it. */
const byItself = [
  /(?:sold (?:and \w+ )?by|verkauf(?: und versand)? durch|vendido (?:y \w+ )?por|venduto (?:e \w+ )?da|vendu par)\s(amazon(?:\.[a-z]+)*)/i,
  /(amazon(?:\.[a-z]+)*)\s?が販売/i,
];

function storeItself(prose: string | null): string | null {
  return byItself.map((pattern) => pattern.exec(prose ?? '')?.[1]).find((name) => name !== undefined) ?? null;
}

function firstWords(elements: readonly (Element | undefined)[]): string | null {
  for (const element of elements) {
    const said = words(element);
    if (said !== null) return said;
  }
  return null;
}

/**
 * Who sells the offer: the seller's link, else the buy box's row, else its prose; the id from the link, else
 * from the form that puts the offer in the basket. Null for what the page does not say.
 */
export function sellerOf(page: HtmlPage, kind: OfferKind): JsonObject {
  const of = (id: string) => ofOffer(allById(page, id), kind);
  const prose = of('merchant-info')[0];
  const links = [...of('sellerProfileTriggerId'), ...findAll(prose, 'a[href*="seller="]')];
  const link = links.find((element) => words(element) !== null);
  const row = of('merchantInfoFeature_feature_div')[0];
  const older = findAll(of('tabular-buybox')[0], '.tabular-buybox-text').find((element) =>
    soldBy.test(attribute(element, 'tabular-attribute-name') ?? ''),
  );
  const name =
    words(link) ??
    firstWords([find(row, '.offer-display-feature-text-message'), older]) ??
    storeItself(words(prose));
  const form =
    of('merchantID')
      .map((input) => attribute(input, 'value'))
      .find((value) => value !== null) ?? null;
  return { name, id: idInLink(link) ?? form };
}
