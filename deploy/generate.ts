// Writes what is generated from declarations, apart from gen/: registries, pages of docs, and the
// models of the Python package.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jobNamesText, registryTexts } from './registries.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
}

// The other files are derived from the folders in the registries, so that their modules are loaded
// afterwards.
write({ ...registryTexts(root), 'gen/job-names.ts': await jobNamesText() });
const { openApiDocument } = await import('./openapi-document.ts');
const { pythonModels, pythonOperations } = await import('./python-models.ts');
const { commandsPage, marketplacesPage, settingsPage } = await import('./reference-pages.ts');
const document = await openApiDocument();
write({
  'docs/commands.md': await commandsPage(),
  'docs/marketplaces.md': marketplacesPage(),
  'docs/settings.md': settingsPage(),
  'clients/python/gleaner/generated/models.py': pythonModels(document),
  'clients/python/gleaner/generated/operations.py': pythonOperations(document),
});
