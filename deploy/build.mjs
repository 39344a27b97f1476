// Bundles the program for the package and the image into dist. Bundles need a third less memory than single
// modules (docs/performance.md).
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.mjs';
import { root } from './place.mjs';

const dist = join(root, 'dist');
for (const name of readdirSync(root).includes('dist') ? readdirSync(dist) : [])
  if (/\.js(?:\.map)?$/.test(name)) rmSync(join(dist, name));

// Names and lines are preserved, so stack traces are readable without source maps.
await bundle(root, dist, { sourcemap: true });
