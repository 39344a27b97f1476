import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages } from './open.ts';

test('open knows every page of the console', () => {
  const code = readFileSync(
    new URL('../../../console/src/app/page-code.ts', import.meta.url),
    'utf8',
  );
  const paths = [...code.matchAll(/^ {4}([a-z-]+)[:,]/gm)].map(([, path]) => path);
  expect(new Set(paths)).toEqual(new Set(pages));
});
