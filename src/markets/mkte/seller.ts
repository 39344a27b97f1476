import type { JsonObject } from '../../base/json.ts';
import {
  allById,
  attribute,
  type Element,
  find,
  findAll,
  firstWords,
  type HtmlPage,
  words,
} from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { type OfferKind, ofOffer } from './offers.ts';

/** Labels of the seller's row in the older buy box, by language. */
const soldBy = /sold by|verk[aä]uf|vend[ui]|venduto|販売元/i;

function idInLink(element: Element | undefined): string | null {
  return (
    /[?&](?:seller|merchant|me|m)=([A-Z0-9]{8,20})(?=&|$)/.exec(
      attribute(element, 'href') ?? '',
    )?.[1] ?? null
  );
}

/** Name of the store or of one of its companies, up to the end of a clause. */
const storeName =
  '(amazon(?:\\.[a-z]+)*(?: \\p{L}+){0,4}?)(?=\\s*$|\\.(?:\\s|$)|[,;(]|\\s(?:and|und|y|e|et)\\s)';

/** Texts for "Sold by Amazon", by language. The store is then the seller. */
const byItself = [
  anyOf(
    [
      'sold (?:and \\w+ )?by',
      'verkauf(?: und versand)? durch',
      'vendido (?:y \\w+ )?por',
      'venduto (?:e \\w+ )?da',
      'vendu par',
    ],
    { flags: 'iu', after: `\\s${storeName}` },
  ),
  /(?<![a-z.])(amazon(?:\.[a-z]+)*)\s?が販売/i,
];

/** Returns the store's name in a text about the seller. Null if a word of it is in lower case. */
function storeItself(prose: string | null): string | null {
  const names = byItself.map((pattern) => pattern.exec(prose ?? '')?.[1]);
  const name = names.find((each) => each !== undefined) ?? null;
  return name !== null && /^\S+(?: \p{Lu}\S*)*$/u.test(name) ? name : null;
}

/**
 * Returns the seller of the offer: its name from the link, otherwise from the buy box's row,
 * otherwise from its text; its id from the link, otherwise from the "Add to cart" form. Missing
 * values are null.
 */
export function readSeller(page: HtmlPage, kind: OfferKind): JsonObject {
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
