import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { registryTexts } from '../../deploy/registries.ts';
import {
  areaOf,
  betweenFeatures,
  betweenSiblings,
  drivers,
  importsUnavailableInBrowsers,
  isKnown,
  longFunctions,
  lookupTables,
  nameComparisons,
  outsideOf,
  processUses,
  serviceWordsIn,
  smallFiles,
  violationsOfOrder,
} from './rules.ts';
import { readSource, type Source } from './source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Tests, conformance suites, and fixtures may import anything. */
const ofTests =
  /\.test\.tsx?$|^src\/[^/]+\/conformance(?:\/|\.ts$)|\/fixture(?:\/|\.ts$)|\/(?:node_modules|dist)\//;

const sources: Source[] = ['src', 'clients', 'gateway', 'console', 'sandbox', 'gen']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
  .filter((path) => !ofTests.test(path))
  .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')));

/** Sources that no generator wrote. */
const written = sources.filter(({ path }) => !path.startsWith('gen/'));

/** Names of the folders of markets or kinds, which have an `index.ts`. */
const foldersOf = (parent: string) =>
  readdirSync(join(root, parent), { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && existsSync(join(root, parent, entry.name, 'index.ts')),
    )
    .map(({ name }) => name);

/** Names of all markets and kinds. */
const axes = new Set([
  ...foldersOf('src/markets'),
  ...foldersOf('src/kinds').map((folder) => folder.replaceAll('-', '_')),
]);

describe('the program', () => {
  test('has an area for each of its folders', () => {
    expect(
      [...new Set(sources.map(({ path }) => areaOf(path)))].filter((area) => !isKnown(area)),
    ).toEqual([]);
    expect(sources.length).toBeGreaterThan(250);
    expect(sources.flatMap(({ files }) => files).length).toBeGreaterThan(700);
  });

  test('imports in one direction', () => {
    expect(violationsOfOrder(sources)).toEqual([]);
  });

  test('lists every market, kind, and fake marketplace in its generated registry', () => {
    for (const [path, text] of Object.entries(registryTexts(root)))
      expect(readFileSync(join(root, path), 'utf8'), `${path}: run npm run gen`).toBe(text);
  });

  test('isolates markets from each other, and kinds from each other', () => {
    expect(betweenSiblings(sources)).toEqual([]);
  });

  test('isolates the features of the console from each other', () => {
    expect(betweenFeatures(sources)).toEqual([]);
  });

  test.each(drivers)('imports the driver %s only in its folder', (name, folder) => {
    expect(sources.filter(({ packages }) => packages.some((used) => name.test(used)))).not.toEqual(
      [],
    );
    expect(outsideOf(sources, name, folder)).toEqual([]);
  });

  test('keeps terms of the service out of the gateway, its tests, and its fixture', () => {
    const files = readdirSync(join(root, 'gateway'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:ts|proto|md)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({
        path: relative(root, path).replaceAll(sep, '/'),
        text: readFileSync(path, 'utf8'),
      }));
    expect(files.length).toBeGreaterThan(30);
    expect(serviceWordsIn(files)).toEqual([]);
  });

  test('imports no Node module in web pages, the contract, and its presentation', () => {
    expect(importsUnavailableInBrowsers(sources)).toEqual([]);
  });

  test('reads the environment, and the streams of the command line, in one file', () => {
    expect(processUses(sources)).toEqual([]);
  });

  test('keeps the queries of jobs independent of the steps', () => {
    const queries = sources.filter(({ path }) => path.startsWith('src/jobs/queries/'));
    expect(queries.length).toBeGreaterThan(10);
    const steps = queries.flatMap(({ files }) =>
      files.filter((file) => file.startsWith('src/jobs/steps/')),
    );
    expect(steps).toEqual([]);
  });

  test('gives each exported type a name of its own', () => {
    const names = written.flatMap(({ types }) => types);
    expect(names.length).toBeGreaterThan(700);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('has comments of at most 100 columns', () => {
    expect(written.flatMap(({ path, wide }) => wide.map((line) => `${path}:${line}`))).toEqual([]);
  });

  test('has the documented number of files on each path of the documentation', () => {
    const section = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
      .split('## Paths through the code')[1]!
      .split('\n## ')[0]!;
    const paths = section.split('\n- ').slice(1);
    expect(paths).toHaveLength(3);
    for (const path of paths) {
      const files = [...path.matchAll(/`([^`]+\.ts)`/g)].map(([, file]) => file!);
      expect(files.length).toBeLessThanOrEqual(Number(/at most (\d+) files/.exec(path)![1]));
      // The composition of the program and the registries pass these as ports, markets, and kinds.
      const passed =
        /^src\/(?:app\/open-fetching|api\/transport\/core-client|markets\/mkta\/index|kinds\/[^/]+\/index)\.ts$/;
      const unreached = files.filter(
        (file, place) =>
          place > 0 &&
          !passed.test(file) &&
          !sources.some(
            (source) => files.slice(0, place).includes(source.path) && source.files.includes(file),
          ),
      );
      expect(unreached).toEqual([]);
    }
  });

  test('has no file of less than 30 lines that belongs into the only file that imports it', () => {
    expect(smallFiles(sources)).toEqual([]);
  });

  test('has no function of more than 60 lines', () => {
    expect(longFunctions(sources)).toEqual([]);
  });

  test('does not branch on the name of a market or kind', () => {
    expect([...axes]).toEqual(expect.arrayContaining(['mkta', 'get_pc']));
    expect(nameComparisons(sources, axes)).toEqual([]);
  });

  test('has no lookup table keyed by market or kind outside of their folders', () => {
    expect(lookupTables(sources, axes)).toEqual([]);
  });
});

describe('parseSource()', () => {
  test.each([
    ["import { a } from './a.ts';", ['src/jobs/a.ts'], []],
    ["import type { A } from '../store/a.ts';", ['src/store/a.ts'], []],
    ["import '../../gateway/a.ts';", ['gateway/a.ts'], []],
    ["export * from './a.ts'; export { b } from './b.ts';", ['src/jobs/a.ts', 'src/jobs/b.ts'], []],
    ["const a = await import('./a.ts');", ['src/jobs/a.ts'], []],
    ["let a: import('./a.ts').A;", ['src/jobs/a.ts'], []],
    ["import manifest from '../../package.json' with { type: 'json' };", ['package.json'], []],
    [
      "import { parse } from 'csv-parse/sync'; import '@aws-sdk/client-s3/x';",
      [],
      ['csv-parse', '@aws-sdk/client-s3'],
    ],
    ["import { DatabaseSync } from 'node:sqlite';", [], ['node:sqlite']],
    [
      "// import './a.ts';\nconst a = \"import './b.ts'\"; /* from './c.ts' */ export { a };",
      [],
      [],
    ],
  ])('%s: its imports are seen', (text, files, packages) => {
    expect(readSource('src/jobs/work.ts', text)).toMatchObject({ files, packages });
  });

  test.each([
    ['const a = { mkta: 1 };', ['mkta']],
    ["const a = { 'mkta product': 1 };", ['mkta product']],
    ['const a = { mkta };', ['mkta']],
    ["const a = new Map([['mkta', 1]]);", ['mkta']],
    ["const a = { ['mkta']: 1 };", ['mkta']],
    ["const a = { kind: 'mkta' };", ['kind']],
    ['const { mkta } = a;', []],
  ])('%s: its keys are seen', (text, keys) => {
    expect(readSource('src/jobs/work.ts', text).keys).toEqual(keys);
  });

  test.each([
    ['function a() {\n  b();\n}', [3]],
    ['const a = () => b;', [1]],
    ['const a = {\n  b() {\n    c();\n  },\n};', [3]],
    ['function a() {\n  return () => {\n    b();\n    c();\n  };\n}', [4, 4]],
    ['function a() {\n  return b.map((c) => c);\n}', [1, 3]],
  ])('%s: counts the lines of its functions', (text, lines) => {
    expect(readSource('src/jobs/work.ts', text).functions.map((found) => found.lines)).toEqual(
      lines,
    );
  });

  test('rejects a computed import name', () => {
    expect(() => readSource('src/jobs/work.ts', 'await import(name);')).toThrow(
      /src\/jobs\/work\.ts/,
    );
  });

  test.each([
    ['process.env.HOME', ['env']],
    ["process['env']", ['env']],
    ['globalThis.process.env', ['env']],
    ['const { env, stdout } = process', ['env', 'stdout']],
    ["import { env } from 'node:process'", ['env']],
    ['process.stdout.write(a)', ['stdout']],
    ["console.log('a')", ['console']],
    ['settings.env', []],
    ["'process.env'", []],
  ])('%s: detects the uses of the process', (text, expected) => {
    expect(readSource('src/jobs/work.ts', text).ofProcess).toEqual(expected);
  });

  test.each([
    ["if (kind === 'pgnt') a();", ['pgnt']],
    ["if ('pgnt' != kind) a();", ['pgnt']],
    ['if (kind === `pgnt`) a();', ['pgnt']],
    ["switch (kind) { case 'pgnt': a(); }", ['pgnt']],
    ["if (['pgnt', 'x'].includes(kind)) a();", ['pgnt', 'x']],
    ["const a = { kind: 'pgnt' };", []],
  ])('%s: its comparisons are seen', (text, compared) => {
    expect(readSource('src/jobs/work.ts', text).compared).toEqual(compared);
  });
});

describe('the rules', () => {
  const from = (path: string, ...names: string[]) => [
    readSource(path, names.map((name) => `import '${name}';`).join('\n')),
  ];

  test.each([
    ['src/jobs/a.ts', '../api/services/b.ts'],
    ['src/base/a.ts', '../jobs/b.ts'],
    ['src/cli/a.ts', '../../sandbox/main.ts'],
    ['src/jobs/a.ts', '../../gateway/caller.ts'],
    ['src/jobs/a.ts', '../../package.json'],
    ['src/jobs/a.ts', '../unheard-of/b.ts'],
    ['gateway/a.ts', '../src/jobs/b.ts'],
    ['gateway/a.ts', '../src/base/b.ts'],
    ['src/cli/a.ts', '../../gateway/b.ts'],
    ['src/contract/a.ts', '../base/b.ts'],
    ['clients/typescript/a.ts', '../../src/base/b.ts'],
    ['gateway/a.ts', '../console/src/main.ts'],
    ['console/src/main.tsx', '../../gateway/caller.ts'],
    ['console/src/main.tsx', '../../src/base/id.ts'],
    ['src/cli/a.ts', '../../console/src/main.ts'],
    ['src/cli/a.ts', '../store/b.ts'],
    ['src/cli/a.ts', '../jobs/b.ts'],
    ['src/app/a.ts', '../cli/b.ts'],
    ['clients/typescript/a.ts', '../../src/jobs/b.ts'],
    ['src/api/services/a.ts', '../../../clients/b.ts'],
    ['src/api/services/a.ts', '../transport/b.ts'],
    ['src/app/a.ts', '../tools/b.ts'],
    ['src/jobs/a.ts', '../notify/b.ts'],
    ['src/jobs/a.ts', '../present/b.ts'],
    ['src/present/a.ts', '../base/b.ts'],
  ])('forbid %s to import %s', (path, name) => {
    expect(violationsOfOrder(from(path, name))).toHaveLength(1);
  });

  test.each([
    ['src/jobs/a.ts', '../store/b.ts'],
    ['src/kinds/a.ts', '../markets/market.ts'],
    ['src/notify/a.ts', '../fetch/b.ts'],
    ['src/sweep/a.ts', '../notify/b.ts'],
    ['src/cli/a.ts', '../../clients/b.ts'],
    ['src/cli/a.ts', '../tools/b.ts'],
    ['src/cli/a.ts', '../app/b.ts'],
    ['src/base/a.ts', '../../package.json'],
    ['src/tools/a.ts', '../../clients/b.ts'],
    ['src/api/transport/a.ts', '../services/b.ts'],
    ['src/app/a.ts', '../jobs/b.ts'],
    ['clients/typescript/a.ts', '../../gen/b.ts'],
    ['gateway/a.ts', '../src/contract/b.ts'],
    ['src/api/rest/a.ts', '../../../gateway/b.ts'],
    ['console/deep/a.ts', '../../src/contract/b.ts'],
    ['src/base/a.ts', '../contract/b.ts'],
    ['console/src/deep/a.ts', '../../../gen/b.ts'],
    ['console/src/deep/a.ts', '../b.ts'],
  ])('allow %s to import %s', (path, name) => {
    expect(violationsOfOrder(from(path, name))).toEqual([]);
  });

  test('forbid imports between folders of markets or kinds', () => {
    expect(
      betweenSiblings(from('src/markets/mkta/a.ts', '../mktb/b.ts', './c.ts', '../html.ts')),
    ).toHaveLength(1);
    expect(
      betweenSiblings(from('src/jobs/a.ts', '../kinds/pgnt/b.ts', '../kinds/kind.ts')),
    ).toHaveLength(1);
    expect(betweenSiblings(from('src/kinds/pgnt/a.ts', '../../markets/list.ts'))).toHaveLength(1);
    expect(betweenSiblings(from('src/kinds/list.ts', './pgnt/index.ts'))).toEqual([]);
  });

  test.each([
    ["const path = '/v1/orders';", true],
    ['// The state of the job.', true],
    ['  string download_url = 3;', true],
    ["{ status: 'processing' }", true],
    ['import "gleaner/options/v1/options.proto";', false],
    ['the jobber processes', false],
  ])('report terms of the service in %s: %s', (text, expected) => {
    expect(serviceWordsIn([{ path: 'gateway/a.ts', text }])).toHaveLength(expected ? 1 : 0);
    expect(serviceWordsIn([{ path: 'src/api/rest/a.ts', text }])).toEqual([]);
  });

  test('restrict drivers to their folders, Node to code outside of pages, and comparisons with names to their folders', () => {
    expect(
      outsideOf(from('src/store/a.ts', 'mongodb'), /^mongodb$/, /^src\/store\/mongo\//),
    ).toHaveLength(1);
    expect(importsUnavailableInBrowsers(from('console/src/a.ts', 'node:fs', 'react'))).toHaveLength(
      1,
    );
    const comparing = (path: string) => [readSource(path, "if (name === 'pgnt') a(process.env);")];
    expect(nameComparisons(comparing('src/jobs/a.ts'), new Set(['pgnt']))).toEqual([
      "src/jobs/a.ts: 'pgnt'",
    ]);
    expect(nameComparisons(comparing('src/kinds/pgnt/a.ts'), new Set(['pgnt']))).toEqual([]);
    const table = (path: string) => [readSource(path, "const a = { 'pgnt/x': 1 };")];
    expect(lookupTables(table('src/jobs/a.ts'), new Set(['pgnt']))).toEqual([
      "src/jobs/a.ts: 'pgnt/x'",
    ]);
    expect(lookupTables(table('src/kinds/pgnt/a.ts'), new Set(['pgnt']))).toEqual([]);
    expect(lookupTables(table('sandbox/pgnt/a.ts'), new Set(['pgnt']))).toEqual([]);
    expect(processUses(comparing('src/jobs/a.ts'))).toEqual(['src/jobs/a.ts: env']);
    const printing = (path: string) => [
      readSource(path, 'console.log(process.pid, process.stdout.isTTY);'),
    ];
    expect(processUses(printing('src/cli/commands/a.ts'))).toEqual([
      'src/cli/commands/a.ts: console',
      'src/cli/commands/a.ts: stdout',
    ]);
    for (const path of ['src/cli/main.ts', 'src/app/a.ts'])
      expect(processUses(printing(path))).toEqual([]);
    const small = (text: string) => [
      ...from('src/jobs/a.ts', './b.ts', './c.ts'),
      ...from('src/jobs/d.ts', './c.ts'),
      ...from('src/kinds/list.ts', './pgnt/index.ts'),
      ...['src/jobs/b.ts', 'src/jobs/c.ts', 'src/kinds/pgnt/index.ts'].map((path) =>
        readSource(path, text),
      ),
    ];
    expect(smallFiles(small('b();\n'))).toEqual(['src/jobs/b.ts: src/jobs/a.ts']);
    expect(
      smallFiles(small('// In a file of\n// its own, which is loaded on demand.\nb();\n')),
    ).toEqual([]);
    expect(smallFiles(small('b();\n'.repeat(30)))).toEqual([]);
    const long = `function a() {\n${'  b();\n'.repeat(59)}}`;
    expect(longFunctions([readSource('src/jobs/a.ts', long)])).toEqual(['src/jobs/a.ts:1: 61']);
    expect(longFunctions([readSource('gen/a.ts', long)])).toEqual([]);
  });
});
