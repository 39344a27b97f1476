import { expect, test } from 'vitest';
import { withHosts } from './hosts.ts';
import { mkta } from './mkta/index.ts';

const url = 'https://mkta.example.co.id/search?keyword=lampu';

test('without a list the market decides alone', () => {
  expect(withHosts(mkta, undefined)).toBe(mkta);
});

test('a host of the list is accepted, in any case of letters', () => {
  expect(withHosts(mkta, ['MKTA.example.co.id']).parseUrl!('search', url)).toEqual(
    mkta.parseUrl!('search', url),
  );
});

test('another host is refused with its name, also when it only ends in an accepted one', () => {
  const narrowed = withHosts(mkta, ['example.co.id']);
  expect(() => narrowed.parseUrl!('search', url)).toThrow(
    "'mkta.example.co.id' is not one of the hosts example.co.id",
  );
});
