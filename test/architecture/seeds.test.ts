import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Code of tests, and of the fake marketplaces that they use. */
const files = globSync(
  ['{src,gateway,console,deploy}/**/*.test.{ts,tsx}', '{test,sandbox}/**/*.{ts,mjs}'],
  {
    cwd: root,
    exclude: ['**/node_modules/**'],
  },
).map((path) => path.replaceAll(sep, '/'));

/** Returns the lines of those files that match, as "file:line: text". */
const linesWith = (pattern: RegExp) =>
  files.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );

test('tests take random numbers from a seed (sandbox/random.ts)', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(linesWith(/\bMath\.random\b/)).toEqual([]);
});

test('no test takes the time as a seed', () => {
  expect(linesWith(/seed.*\bDate\.now\(/i)).toEqual([]);
});

test('properties of fast-check take their seed from checkProperty()', () => {
  const paths = linesWith(/\bfc\.(?:assert|check|sample|configureGlobal)\(/).map(
    (line) => line.split(':')[0],
  );
  expect(paths).toEqual(['test/support/run/properties.ts']);
});
