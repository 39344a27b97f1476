import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marketplacesPage, settingsPage } from '../../deploy/reference-pages.ts';
import { root } from '../support/service.ts';

test.each([
  ['marketplaces.md', marketplacesPage],
  ['settings.md', settingsPage],
])('docs/%s is as declared', (name, page) => {
  expect(readFileSync(join(root, 'docs', name), 'utf8'), 'run npm run gen').toBe(page());
});
