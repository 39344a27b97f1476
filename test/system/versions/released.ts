import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { root } from '../../support/service.ts';

/** The last release, unpacked. */
export interface ReleasedProgram {
  /** Entry module. */
  main: string;
  /** Removes the files. */
  remove(): void;
}

/**
 * Unpacks the bundle of the last release (`npm run release:program`). It uses the installed packages of this checkout for
 * the drivers of the engines, which are not part of the bundle.
 */
export function unpackReleasedProgram(): ReleasedProgram {
  const packed = readFileSync(new URL('released.json.br', import.meta.url));
  const { files } = JSON.parse(brotliDecompressSync(packed).toString()) as { files: Record<string, string> };
  // Inside of the root, where Node finds the packages.
  const cache = join(root, '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'released-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return { main: join(folder, 'main.js'), remove: () => rmSync(folder, { recursive: true }) };
}
