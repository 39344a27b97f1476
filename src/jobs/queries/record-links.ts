import type { ExactJson, ExactObject } from '../../formats/json-text.ts';

/** Addresses of a record: of its page, and of its first picture. */
export interface RecordLinks {
  url: string | null;
  image: string | null;
}

const imageName = /image|img|thumb|picture|photo/i;
const urlName = /^(?:url|link|page_?url|product_?url)$/i;
/** Maximum values of a record that are examined. */
const maxValues = 2_000;

/** Parts that a market adds to the addresses in its records. */
export interface LinkHints {
  /** Origin of the pages, which completes addresses without a host. Null if it is not known. */
  origin?: string | null;
  /** Returns the address of a picture that is named by an id. */
  pictureUrl?: (id: string) => string | null;
}

/**
 * Returns the first addresses of a record by the names of its members: markets name them differently, and not
 * every page has them.
 */
export function recordLinks(
  record: ExactObject,
  { origin = null, pictureUrl = () => null }: LinkHints = {},
): RecordLinks {
  const found: RecordLinks = { url: null, image: null };
  // Breadth first: the addresses of the item are above those of its variants and its seller.
  const open: [name: string, value: ExactJson][] = Object.entries(record);
  for (let at = 0; at < open.length && at < maxValues && (!found.url || !found.image); at++) {
    const [name, value] = open[at]!;
    if (typeof value === 'string') {
      const isUrl = /^https?:\/\/[^\s]{4,2000}$/i.test(value);
      if (imageName.test(name)) found.image ??= isUrl ? value : pictureUrl(value);
      else if (urlName.test(name)) found.url ??= isUrl ? value : pageUrl(origin, value);
    } else if (Array.isArray(value)) {
      for (const element of value.slice(0, 20)) open.push([name, element]);
    } else if (typeof value === 'object' && value !== null) {
      const inImage = imageName.test(name);
      // `image: {url: …}`: the address of a picture, not of the page.
      for (const [member, inner] of Object.entries(value))
        open.push([inImage ? `${name}.${member}` : member, inner]);
    }
  }
  return found;
}

/** Returns the address of a page by its path, or null for text that is no path, and without an origin. */
export function pageUrl(origin: string | null, path: string): string | null {
  if (origin === null || !/^\/(?!\/)[^\s\\]{0,2000}$/.test(path) || !URL.canParse(path, origin)) return null;
  const url = new URL(path, origin);
  return url.origin === new URL(origin).origin ? url.href : null;
}
