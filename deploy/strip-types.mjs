// Node runs TypeScript as it is, but not below a folder called node_modules, where npm puts us when we are
// installed as a package: there, types are taken out here. Loaded with --import before the program.
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const ours = new URL('..', import.meta.url).href;

registerHooks({
  load(url, context, next) {
    const isOurs = url.startsWith(ours) && !url.slice(ours.length).includes('node_modules/');
    if (!isOurs || !url.endsWith('.ts')) return next(url, context);
    const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
