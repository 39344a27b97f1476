// Stores the bundle of this program as the released one, which test/system/versions runs beside later programs:
// `npm run release:program`. The argument is the folder of the sources, the root by default.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { bundle } from './bundle.mjs';
import { root } from './place.mjs';

const sources = resolve(process.argv[2] ?? root);
const folder = mkdtempSync(join(tmpdir(), 'gleaner-release-'));
await bundle(sources, folder, { minify: true });
const files = Object.fromEntries(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
);
rmSync(folder, { recursive: true });
const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants;
const packed = brotliCompressSync(JSON.stringify({ files }), { params: { [quality]: 11, [window]: 24 } });
writeFileSync(join(root, 'test/system/versions/released.json.br'), packed);
console.log(`${Object.keys(files).length} files, ${packed.length.toLocaleString('en-US')} bytes`);
