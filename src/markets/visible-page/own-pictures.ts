import type { Json } from '../../base/json.ts';
import type { Candidate } from '../candidates/candidates.ts';
import { text, texts } from '../fields.ts';
import type { Element } from '../html/html.ts';
import { addressOn } from '../structured-data/offer.ts';
import { sizedPicture } from '../structured-data/pictures.ts';
import { pageCandidate } from './evidence.ts';
import { isInListItem } from './product-card.ts';
import type { VisiblePage } from './visible-page.ts';

/** Attributes with the address of a picture: that of one to load later, and of its larger form. */
const pictureAttributes = [
  'src',
  'data-src',
  'data-original',
  'data-zoom-image',
  'data-large_image',
];

/** Pictures that a page shows, without the parameters of their sizes. */
export interface ShownPictures {
  /** Those beside the product. */
  own: ReadonlySet<string>;
  /** Those of other products, and of regions that the product has no part in. */
  ofOthers: ReadonlySet<string>;
}

const pictureOf = (address: string): string => sizedPicture(address).picture;

function picturesIn({ name, attribs }: Element, url: string, base: string | null): string[] {
  if (name !== 'img') return [];
  const addresses = pictureAttributes.map((attribute) =>
    addressOn(url, text(attribs[attribute]), base),
  );
  return addresses.filter((address) => address !== null).map(pictureOf);
}

/** Returns the pictures of a page. `base`: address of the `base` element of the page. */
export function shownPictures(page: VisiblePage, url: string, base: string | null): ShownPictures {
  const [own, ofOthers] = [new Set<string>(), new Set<string>()];
  const ownElements = new Set(page.fields);
  for (const element of page.ranges.keys()) {
    const pictures = picturesIn(element, url, base);
    if (pictures.length === 0) continue;
    const isOwn = ownElements.has(element) && !isInListItem(element, page);
    for (const picture of pictures) (isOwn ? own : ofOthers).add(picture);
  }
  return { own, ofOthers };
}

/**
 * Returns a value of structured data without pictures that the page only shows for other products.
 * The first one is that of the product, which can be in a region of its own.
 */
export function withoutOtherPictures(value: Json, { own, ofOthers }: ShownPictures): Json {
  const addresses = texts(value);
  return addresses.filter((address, at) => {
    const picture = pictureOf(address);
    return at === 0 || own.has(picture) || !ofOthers.has(picture);
  });
}

/** Returns the candidates of the picture for previews, which the page confirms by showing it. */
export function previewCandidates(address: string | null, { own }: ShownPictures): Candidate[] {
  if (address === null) return [];
  const picture = { field: 'images', value: [address], text: address, element: null };
  const sources = own.has(pictureOf(address)) ? ['preview', 'picture'] : ['preview'];
  return sources.map((source) => pageCandidate({ ...picture, source }));
}
