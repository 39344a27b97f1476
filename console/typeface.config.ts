import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
// @ts-expect-error: the package has no type declarations.
import subsetFont from 'subset-font';

/** Style sheet with the faces of the typeface. */
const sheet = join(import.meta.dirname, 'src/app/typeface.css');
/** Folder of the files that are made from packages. */
const folder = join(import.meta.dirname, 'node_modules/.cache/typeface');
/** Prefix of the addresses of these files in style sheets. */
const prefix = '@typeface';

// cspell:ignore wght
/** Weights of the console's texts. */
const weights = { min: 400, max: 700 };
/** Kerning, and digits of equal width. */
const features = ['kern', 'tnum'];

/** Returns the characters of a `unicode-range`. */
function charactersOf(ranges: string): string {
  const characters: string[] = [];
  for (const [, from, to = from] of ranges.matchAll(/U\+([\da-f]+)(?:-([\da-f]+))?/gi))
    for (let code = Number.parseInt(from!, 16); code <= Number.parseInt(to!, 16); code++)
      characters.push(String.fromCodePoint(code));
  return characters.join('');
}

/**
 * Reduces each font file that the style sheet addresses by `@typeface/<file>` to the characters of
 * its `unicode-range` and to what the console uses: phones load half as much. Returns the alias of
 * the files' folder.
 */
export async function subsetTypeface(): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true });
  const faces = readFileSync(sheet, 'utf8').matchAll(
    /url\("@typeface\/([^"]+)"\)[^}]*unicode-range:([^;]+);/g,
  );
  for (const [, file, ranges] of faces) {
    const source = fileURLToPath(import.meta.resolve(`@fontsource-variable/inter/files/${file}`));
    const subset = await subsetFont(readFileSync(source), charactersOf(ranges!), {
      targetFormat: 'woff2',
      variationAxes: { wght: weights },
      keepFeatures: features,
    });
    await writeFile(join(folder, file!), subset);
  }
  return { [prefix]: folder };
}
