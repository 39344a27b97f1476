import { describe, expect, test } from 'vitest';
import { createNavigationRules } from './navigation-rules.ts';

const origin = 'https://shop.example';
const moved = (location: string | undefined, status = 302) => ({
  status,
  headers: location === undefined ? {} : { location },
  url: `${origin}/here`,
});

describe('allows()', () => {
  test('allows up to five pages of the origin', () => {
    const { allows } = createNavigationRules(origin, true);
    expect(allows(`${origin}/1`, false)).toBe(true);
    for (const url of [
      'https://other.example/',
      'http://shop.example/',
      `${origin}:8443/`,
      'file:///etc/passwd',
      'data:,x',
    ]) {
      expect(createNavigationRules(origin, true).allows(url, false)).toBe(false);
    }
    for (const turn of [2, 3, 4, 5]) expect(allows(`${origin}/${turn}`, false)).toBe(true);
    expect(allows(`${origin}/6`, false)).toBe(false);
  });

  test('does not count redirects as pages', () => {
    const { allows } = createNavigationRules(origin, true);
    for (let turn = 0; turn < 9; turn += 1) expect(allows(`${origin}/${turn}`, true)).toBe(true);
  });
});

describe('redirect()', () => {
  test('follows up to three redirects on the origin', () => {
    const { redirect } = createNavigationRules(origin, true);
    for (let turn = 0; turn < 3; turn += 1)
      expect(redirect(moved(`/turn/${turn}`, 301 + (turn % 3)))).toBe('follow');
    expect(redirect(moved('/again'))).toBe('return');
  });

  test.each([
    'https://other.example/',
    '//other.example/',
    'http://shop.example/',
    'javascript:alert(1)',
    'http://[',
  ])('returns a redirect to %s', (location) => {
    expect(createNavigationRules(origin, true).redirect(moved(location))).toBe('return');
  });

  test('returns redirects of documents', () => {
    expect(createNavigationRules(origin, false).redirect(moved('/there'))).toBe('return');
  });

  test('returns null for other responses', () => {
    const { redirect } = createNavigationRules(origin, true);
    expect(redirect(moved('/there', 200))).toBeNull();
    expect(redirect(moved('/there', 304))).toBeNull();
    expect(redirect(moved(undefined))).toBeNull();
  });
});
