import { absoluteUrl, list, object, objects, text } from '../fields.ts';
import { attribute, byId, findAll, type HtmlPage } from '../html/html.ts';
import { parseJson } from '../json/script-json.ts';
import { scriptValue } from './variants.ts';

const mainIds = ['landingImage', 'imgBlkFront', 'ebooksImgBlkFront', 'main-image'];

/** Returns an image's address without its size code, which is the address of the original. */
function original(url: string): string {
  const start = url.lastIndexOf('/') + 1;
  const [name, ...parts] = url.slice(start).split('.');
  const extension = parts.length > 1 ? parts.at(-1)! : '';
  if (/^\w{3,4}$/.test(extension)) return `${url.slice(0, start)}${name}.${extension}`;
  return url;
}

function fullSize(url: string | null): string | null {
  return url === null ? null : original(url);
}

/** Returns the part of an image's name that is the same for every size: up to the first dot. */
function name(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1).split('.')[0]!;
}

function fromScripts(page: HtmlPage): (string | null)[] {
  const entries = objects(scriptValue(page, "'initial'") ?? scriptValue(page, '"initial"'));
  const gallery = entries.length > 0 ? [] : objects(scriptValue(page, 'imageGalleryData'));
  return [
    ...entries.map(
      (entry) => text(entry.hiRes) ?? text(entry.large) ?? fullSize(text(entry.thumb)),
    ),
    ...gallery.map((entry) => text(entry.mainUrl)),
  ];
}

/** Returns the largest image in a `data-a-dynamic-image` attribute. */
function largest(sizes: string | null): string | null {
  let best: { url: string; width: number } | undefined;
  for (const [url, size] of Object.entries(object(parseJson(sizes ?? '')))) {
    const width = Number(list(size)[0]);
    if (!best || width > best.width) best = { url, width };
  }
  return best?.url ?? null;
}

function fromElements(page: HtmlPage): (string | null)[] {
  const main = mainIds.map((id) => byId(page, id)).find((image) => image !== undefined);
  const first =
    attribute(main, 'data-old-hires') ??
    fullSize(largest(attribute(main, 'data-a-dynamic-image')) ?? attribute(main, 'src'));
  const small = findAll(byId(page, 'altImages'), 'li.item img, li.imageThumbnail img').map(
    (image) => fullSize(attribute(image, 'src')),
  );
  return [first, ...small];
}

/**
 * Returns the addresses of the product's images in their largest size, the main image first,
 * without videos and duplicates.
 */
export function readImages(page: HtmlPage): string[] {
  const fromScript = fromScripts(page).filter((url) => url !== null);
  const urls = fromScript.length > 0 ? fromScript : fromElements(page);
  const seen = new Set<string>();
  return urls
    .map((url) => absoluteUrl(url))
    .filter((url) => url !== null)
    .filter((url) => {
      if (/play-?icon|\/images\/G\//i.test(url) || seen.has(name(url))) return false;
      seen.add(name(url));
      return true;
    });
}
