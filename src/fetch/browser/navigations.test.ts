import { describe, expect, test } from 'vitest';
import { createNavigations } from './navigations.ts';

const origin = 'https://shop.example';
const moved = (location: string | undefined, status = 302) => ({
  status,
  headers: location === undefined ? {} : { location },
  url: `${origin}/here`,
});

describe('a page', () => {
  test('may go on its origin, a few times, and nowhere else', () => {
    const { allows } = createNavigations(origin, true);
    expect(allows(`${origin}/1`, false)).toBe(true);
    for (const url of [
      'https://other.example/',
      'http://shop.example/',
      `${origin}:8443/`,
      'file:///etc/passwd',
      'data:,x',
    ]) {
      expect(createNavigations(origin, true).allows(url, false)).toBe(false);
    }
    for (const turn of [2, 3, 4, 5]) expect(allows(`${origin}/${turn}`, false)).toBe(true);
    expect(allows(`${origin}/6`, false)).toBe(false);
  });

  test('that was redirected has not gone on', () => {
    const { allows } = createNavigations(origin, true);
    for (let turn = 0; turn < 9; turn += 1) expect(allows(`${origin}/${turn}`, true)).toBe(true);
  });
});

describe('a redirect', () => {
  test('is followed on the origin, three times, for a page that is opened for what it asks for', () => {
    const { redirect } = createNavigations(origin, true);
    for (let turn = 0; turn < 3; turn += 1)
      expect(redirect(moved(`/turn/${turn}`, 301 + (turn % 3)))).toBe('follow');
    expect(redirect(moved('/again'))).toBe('answer');
  });

  test.each([
    'https://other.example/',
    '//other.example/',
    'http://shop.example/',
    'javascript:alert(1)',
    'http://[',
  ])('to %s is the answer', (location) => {
    expect(createNavigations(origin, true).redirect(moved(location))).toBe('answer');
  });

  test('of a document is the answer', () => {
    expect(createNavigations(origin, false).redirect(moved('/there'))).toBe('answer');
  });

  test('is nothing else than a status with an address', () => {
    const { redirect } = createNavigations(origin, true);
    expect(redirect(moved('/there', 200))).toBeNull();
    expect(redirect(moved('/there', 304))).toBeNull();
    expect(redirect(moved(undefined))).toBeNull();
  });
});
