/** Parameters of addresses that only choose the size of a picture. */
const sizeParameters: ReadonlySet<string> = new Set([
  'width',
  'height',
  'w',
  'h',
  'wid',
  'hei',
  'sw',
  'sh',
  'size',
]);

/** Sizes at the end of the names of files: "mug_600x600.jpg", "mug_grande.jpg". */
const sizeSuffix = /[_-](?:(\d{2,4})x(\d{2,4})?|(small|medium|large|grande))(?=\.\w{3,4}$)/i;
const namedSizes: Readonly<Record<string, number>> = {
  small: 100,
  medium: 240,
  large: 480,
  grande: 600,
};

/** Returns the size in the name of a file, or 0 if it has none. */
function suffixSize(pathname: string): number {
  const [, width, height, name] = sizeSuffix.exec(pathname) ?? [];
  return Math.max(
    Number(width ?? 0),
    Number(height ?? 0),
    namedSizes[name?.toLowerCase() ?? ''] ?? 0,
  );
}

/** A picture without its scheme and its size, and the size. */
interface SizedPicture {
  picture: string;
  /** Longer side in pixels. Infinity for a picture without a size, which is the original. */
  size: number;
}

/** Returns the picture at an address. */
export function sizedPicture(address: string): SizedPicture {
  const url = new URL(address);
  let size = suffixSize(url.pathname);
  for (const [name, value] of [...url.searchParams]) {
    if (!sizeParameters.has(name.toLowerCase()) || !/^\d{1,5}$/.test(value)) continue;
    size = Math.max(size, Number(value));
    url.searchParams.delete(name);
  }
  const pathname = url.pathname.replace(sizeSuffix, '');
  return { picture: url.host + pathname + url.search, size: size || Number.POSITIVE_INFINITY };
}

/** Returns addresses of pictures in order, each picture once: in its largest size. */
export function largestPictures(addresses: readonly string[]): string[] {
  const largest = new Map<string, { address: string; size: number }>();
  for (const address of addresses) {
    const { picture, size } = sizedPicture(address);
    const current = largest.get(picture);
    if (current === undefined || size > current.size) largest.set(picture, { address, size });
  }
  return [...largest.values()].map(({ address }) => address);
}
