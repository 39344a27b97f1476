import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages } from './open.ts';

test('open knows every page of the console', () => {
  const routes = readFileSync(new URL('../../../console/src/app/routes.tsx', import.meta.url), 'utf8');
  const paths = [...routes.matchAll(/path: '([a-z-]+)'/g)].map(([, path]) => path);
  expect(new Set(paths)).toEqual(new Set(pages));
});
