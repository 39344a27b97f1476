import { createHash } from 'node:crypto';

/** Scheme of the addresses of the sandbox's pictures, which are drawn instead of fetched. */
const scheme = 'sandbox:';

/** Outlines of invented products, on a canvas of 320 by 320. */
const outlines = [
  // A vase.
  'M120 70h80l-12 34c44 26 60 60 60 96 0 42-32 66-88 66s-88-24-88-66c0-36 16-70 60-96z',
  // A parcel.
  'M70 120l90-40 90 40v100l-90 44-90-44zM70 120l90 42 90-42M160 162v102',
  // A bottle.
  'M136 56h48v50l26 40v112q0 10-10 10h-80q-10 0-10-10V146l26-40z',
  // A bowl.
  'M60 140h200c0 62-36 100-74 108v18h-52v-18c-38-8-74-46-74-108z',
  // A mug.
  'M80 90h130v30h26q30 0 30 34t-30 40l-30 8q-4 62-20 64H96q-16 0-16-40z' +
    'M210 148v30l20-6q8-3 8-12t-8-12z',
] as const;

/** Returns the address of the picture of an item in the sandbox. */
export const sandboxPictureUrl = (market: string, item: string): string =>
  `${scheme}${market}/${item.toWellFormed()}`;

/** Returns true for the address of a picture of the sandbox. */
export const isSandboxPicture = (url: string): boolean => url.startsWith(scheme);

/**
 * Draws the picture at an address of the sandbox: always the same one, and another one for each
 * item.
 */
export function drawSandboxPicture(url: string): { contentType: string; bytes: Uint8Array } {
  const [hue = 0, shade = 0, outline = 0, turn = 0] = createHash('sha256').update(url).digest();
  const productHue = Math.round((hue / 255) * 359);
  const wallHue = (productHue + 120 + turn / 2) % 360;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="320" viewBox="0 0 320 320">
<rect width="320" height="320" fill="hsl(${wallHue} 35% 92%)"/>
<ellipse cx="160" cy="268" rx="104" ry="14" fill="hsl(${wallHue} 25% 80%)"/>
<path d="${outlines[outline % outlines.length]}" fill="hsl(${productHue} 48% ${40 + (shade % 24)}%)" stroke="hsl(${productHue} 50% 26%)" stroke-width="4" stroke-linejoin="round"/>
</svg>
`;
  return { contentType: 'image/svg+xml', bytes: Buffer.from(svg) };
}
