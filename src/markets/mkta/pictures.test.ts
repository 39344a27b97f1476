import { describe, expect, test } from 'vitest';
import { pictureUrl } from './fields.ts';

describe('pictureUrl()', () => {
  test.each([
    '4e5dbf53cbd5034edbaa4559d0c8180b',
    'vn-11134207-23030-0a1b2c3d4e5f67',
    'id-11134207-7r980-lq0abc12def3',
  ])('returns the address of %s, and of its small version', (id) => {
    const url = `https://down-id.img.susercontent.com/file/${id}`;
    expect(pictureUrl(id, 'id', 'full')).toBe(url);
    expect(pictureUrl(id, 'id', 'small')).toBe(`${url}_tn`);
  });

  test.each([
    ['', 'id'],
    ['a lamp', 'id'],
    ['../4e5dbf53cbd5034edbaa4559d0c8180b', 'id'],
    ['https://example.com/4e5dbf53cbd5034edbaa4559d0c8180b', 'id'],
    ['4e5dbf53cbd5034edbaa4559d0c8180b', ''],
    ['4e5dbf53cbd5034edbaa4559d0c8180b', 'evil.example/'],
    ['4e5dbf53cbd5034edbaa4559d0c8180b', 'toString'],
  ])('returns null for %j in region %j', (id, region) =>
    expect(pictureUrl(id, region, 'small')).toBeNull(),
  );
});
