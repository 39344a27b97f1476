import { expect, test } from 'vitest';
import { drawSandboxPicture, isSandboxPicture, sandboxPictureUrl } from './sandbox-picture.ts';

const draw = (market: string, item: string) => {
  const { contentType, bytes } = drawSandboxPicture(sandboxPictureUrl(market, item));
  return { contentType, svg: Buffer.from(bytes).toString() };
};

test('drawSandboxPicture() draws the same picture of an item, and another one of each item', () => {
  const { contentType, svg } = draw('mkte', 'B0GLN01001');
  expect(contentType).toBe('image/svg+xml');
  expect(svg).toMatch(
    /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*<path d="M[^"]+".*<\/svg>\n$/s,
  );
  expect(draw('mkte', 'B0GLN01001').svg).toBe(svg);
  const others = Array.from({ length: 50 }, (_, at) => draw('mkte', `B0GLN0${at}`).svg);
  expect(new Set(others).size).toBe(50);
});

test('a picture contains no text of its address', () => {
  expect(draw('mktb', '"><script>').svg).not.toContain('script');
});

test('isSandboxPicture() returns false for addresses of sites', () => {
  expect(isSandboxPicture(sandboxPictureUrl('mkta', '1'))).toBe(true);
  expect(isSandboxPicture('https://sandbox:1@cdn.test/a.png')).toBe(false);
});
