import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  isProductCode,
  literalSpreads,
  retiredPhrases,
  titlesWith,
  translatedNames,
} from './rules.ts';
import { readSource } from './source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const readRoot = (path: string) => readFileSync(join(root, path), 'utf8');

const sources = globSync('{src,gateway,console,sandbox,bench,deploy,test}/**/*.{ts,tsx}', {
  cwd: root,
  exclude: ['**/node_modules/**', '**/dist/**'],
}).map((path) => readSource(path.replaceAll(sep, '/'), readRoot(path)));

const productCode = sources.filter(({ path }) => isProductCode(path));

type Rules = Record<string, Record<string, unknown>>;

const biome = JSON.parse(readRoot('biome.json')) as {
  linter: { rules: Rules };
  overrides: { includes: string[]; linter?: { rules?: Rules } }[];
};

/** Returns the files for which biome.json turns a rule off. */
const filesWithout = (group: string, rule: string) =>
  biome.overrides
    .filter(({ linter }) => linter?.rules?.[group]?.[rule] === 'off')
    .flatMap(({ includes }) => includes);

/** Returns those of the files that violate one of the two rules of Biome that have exceptions. */
function violators(files: readonly string[], group: string, rule: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-lint-'));
  const { linter } = biome;
  const rules = { preset: 'none', [group]: { [rule]: linter.rules[group]![rule] } };
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ linter: { rules } }));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/@biomejs/biome/bin/biome'),
      'lint',
      `--config-path=${folder}`,
      '--max-diagnostics=none',
      '--reporter=json',
      ...files,
    ],
    { cwd: root, encoding: 'utf8' },
  );
  rmSync(folder, { recursive: true });
  if (!stdout.startsWith('{')) throw new Error(`Biome has no report: ${stderr}`);
  const { diagnostics } = JSON.parse(stdout) as Report;
  const found = diagnostics.filter(({ category }) => category === `lint/${group}/${rule}`);
  return [...new Set(found.map(({ location }) => location.path))];
}

/** Report of Biome, as far as it is read here. */
interface Report {
  diagnostics: { category: string; location: { path: string } }[];
}

describe('product code', () => {
  test('spreads no array or object literal', () => {
    expect(literalSpreads(productCode)).toEqual([]);
  });

  test('names its variables and parameters with nouns of the field', () => {
    expect(translatedNames(productCode)).toEqual([]);
  });

  test.each([
    ['complexity', 'noExcessiveCognitiveComplexity'],
    ['style', 'noNestedTernary'],
  ])('exempts only files that need it from the rule %s/%s', (group, rule) => {
    const exempt = filesWithout(group, rule);
    const needed = exempt.length === 0 ? [] : violators(exempt, group, rule);
    // Remove the file from the list in biome.json.
    expect(exempt.filter((path) => !needed.includes(path))).toEqual([]);
  });
});

test('titles of tests contain none of the phrases that the documentation has retired', () => {
  expect(sources.flatMap(({ titles }) => titles).length).toBeGreaterThan(2000);
  expect(titlesWith(sources, retiredPhrases(readRoot('.textlintrc.json')))).toEqual([]);
});

describe('the rules', () => {
  test.each([
    ['const a = [...[b, c], d];', 1],
    ['const a = { ...{ b, c }, d };', 1],
    ['const a = [...["b"].map(c)];', 1],
    ['const a = [...b, ...c()];', 0],
    ['const a = { ...(b ? { c } : {}) };', 0],
    ['const [...[a]] = b;', 0],
  ])('count spreads of a literal in %s: %i', (text, count) => {
    expect(literalSpreads([readSource('src/jobs/a.ts', text)])).toHaveLength(count);
  });

  test.each([
    ['const known = a;', ['known']],
    ['const { a: known, shown = 1, ...others } = b;', ['known', 'shown', 'others']],
    ['for (const [place, [whole]] of a) b();', ['place', 'whole']],
    ['const a = (given: string, { kept }: B) => b;', ['given', 'kept']],
    ['function a(wanted = 1) {}', ['wanted']],
    ['const knownIds = given.known;', []],
    ['interface A { known: string }', []],
  ])('find translated names in %s: %j', (text, expected) => {
    const findings = translatedNames([readSource('src/jobs/a.ts', text)]);
    expect(findings).toEqual(expected.map((name) => `src/jobs/a.ts:1: ${name}`));
  });

  test('search titles of tests and of groups, with templates, tables, and conditions', () => {
    const phrases = retiredPhrases(
      '{ "rules": { "terminology": { "terms": ["API", ["gives? back", "refunds"]] } } }',
    );
    const text = [
      "describe('gives back', () => {});",
      "test.each([1])('give back %i', () => {});",
      'test.skipIf(a)(`gives back`, () => {});',
      "test('forgives backups', () => {});",
      "other('gives back');",
    ];
    expect(titlesWith([readSource('src/jobs/a.test.ts', text.join('\n'))], phrases)).toEqual([
      'src/jobs/a.test.ts:1: gives back -> refunds',
      'src/jobs/a.test.ts:2: give back -> refunds',
      'src/jobs/a.test.ts:3: gives back -> refunds',
    ]);
  });
});
