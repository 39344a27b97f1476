import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandsPage, marketplacesPage, settingsPage } from '../../deploy/reference-pages.ts';
import { root } from '../support/service/service.ts';

test.each<[string, () => string | Promise<string>]>([
  ['commands.md', commandsPage],
  ['marketplaces.md', marketplacesPage],
  ['settings.md', settingsPage],
])('docs/%s is as declared', async (name, page) => {
  expect(readFileSync(join(root, 'docs', name), 'utf8'), 'run npm run gen').toBe(await page());
});
