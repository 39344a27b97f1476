// Bundles the program into dist, for the package and the image, or into another folder beside it:
// `build.mjs [folder]`. Bundles need a third less memory than single modules (docs/performance.md).
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './place.mjs';

const { bundle } = await import('./bundle.mjs').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error('The bundler is not installed: run npm run setup -- --all first.');
  process.exit(1);
});

const dist = resolve(root, process.argv[2] ?? 'dist');
for (const name of existsSync(dist) ? readdirSync(dist) : [])
  if (/\.js(?:\.map)?$/.test(name)) rmSync(join(dist, name));

// Names and lines are preserved, so stack traces are readable without source maps.
await bundle(root, dist, { sourcemap: true });
