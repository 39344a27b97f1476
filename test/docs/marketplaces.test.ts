import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marketplacesPage } from '../../deploy/marketplaces-page.ts';
import { root } from '../support/service.ts';

test('docs/marketplaces.md lists every marketplace as declared', () => {
  expect(readFileSync(join(root, 'docs/marketplaces.md'), 'utf8'), 'run npm run gen').toBe(
    marketplacesPage(),
  );
});
