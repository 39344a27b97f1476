import type { Source } from './source.ts';

/**
 * Areas in layers, from the most basic to the most dependent. An area may import from the rows
 * above its own, but not from its own row.
 */
const rows: readonly (readonly string[])[] = [
  ['gen'],
  ['src/contract'],
  ['src/base'],
  ['src/store', 'src/links', 'src/telemetry'],
  ['src/queue', 'src/blobs', 'src/fetch', 'src/access', 'src/quality'],
  ['src/outbound', 'src/operations', 'src/markets', 'src/formats'],
  ['src/kinds', 'src/destinations'],
  ['src/jobs'],
  ['src/schedules', 'src/notify'],
  ['src/history'],
  ['src/api/services', 'src/worker', 'src/sweep'],
  ['src/api/transport'],
  ['src/stack'],
  ['src/backup'],
  ['src/app'],
  ['src/tools'],
];

/** Areas outside of the layers, with the areas that they import and that import them. */
const apart: Readonly<Record<string, { imports: readonly string[]; users: readonly string[] }>> = {
  // A separate package that depends on the contract, not on the service.
  gateway: { imports: ['gen', 'src/contract'], users: ['src/api/rest', 'src/api/mcp'] },
  // Tools for agents, over any way to call the service. They have the schemas of the REST
  // interface.
  'src/api/mcp': {
    imports: ['gateway', 'gen', 'src/contract'],
    users: ['src/api/rest', 'src/cli'],
  },
  // The REST interface of this service over the gateway.
  'src/api/rest': {
    imports: ['gateway', 'gen', 'src/base', 'src/contract', 'src/present', 'src/api/mcp'],
    users: ['src/app'],
  },
  // A web page: no code of the service runs in a browser.
  console: { imports: ['gen', 'src/contract', 'src/present'], users: [] },
  // Wording of what people read, in the console, the API reference, and the command line; runs in
  // browsers.
  'src/present': {
    imports: ['gen', 'src/contract'],
    users: ['console', 'src/api/rest', 'src/cli'],
  },
  // Fake sites, started as a separate process. `in-process-origin.ts` implements the fetch port for
  // tests.
  sandbox: { imports: ['src/fetch'], users: [] },
  // Code as in a caller's program: it depends on the contract, not on the service.
  clients: { imports: ['gen', 'src/contract'], users: ['src/tools', 'src/cli'] },
  // Commands and their output; src/app and src/tools run the service.
  'src/cli': {
    imports: [
      'gen',
      'src/base',
      'src/contract',
      'src/present',
      'clients',
      'src/api/mcp',
      'src/backup',
      'src/app',
      'src/tools',
    ],
    users: [],
  },
};

/** Folders that may import a driver, by driver. */
export const drivers: readonly [name: RegExp, folder: RegExp][] = [
  [/^mongodb$/, /^src\/store\/mongo\//],
  [/^(?:node:)?sqlite$/, /^src\/store\/sqlite\//],
  [/^nats$/, /^src\/queue\/jetstream\//],
  [/^@aws-sdk\//, /^src\/blobs\/s3\//],
  [/^(?:undici|http-message-sig)$/, /^src\/(?:(?:fetch|outbound)\/|cli\/commands\/session\.ts$)/],
  [/^(?:nodemailer|standardwebhooks)$/, /^src\/notify\//],
  [/^@?puppeteer/, /^src\/fetch\/browser\//],
  [/^hyparquet-writer$/, /^src\/formats\//],
  [/^croner$/, /^src\/schedules\//],
  [/^lru-cache$/, /^(?:src\/base|gateway)\//],
  [/^(?:@fastify\/busboy|negotiator)$/, /^gateway\//],
  [/^@opentelemetry\//, /^src\/telemetry\//],
  [/^express$/, /^(?:gateway|src\/api\/rest)\//],
  [/^@modelcontextprotocol\//, /^src\/(?:api\/mcp\/|api\/rest\/mcp\.ts$|cli\/commands\/mcp\.ts$)/],
];

/**
 * Returns the area of a path: "src/api/transport" for "src/api/services/core.ts", and "src/jobs" for
 * "src/jobs/credits.ts", where the folder below has no area; outside src the top-level folder.
 */
export function areaOf(path: string): string {
  const [top, second, third] = path.split('/');
  if (top !== 'src') return top!;
  const inner = `${top}/${second}/${third}`;
  return isKnown(inner) ? inner : `${top}/${second}`;
}

const rowOf = (area: string) => rows.findIndex((row) => row.includes(area));

/** Returns true if an area has a place in the order. */
export const isKnown = (area: string) => area in apart || rowOf(area) >= 0;

/** Returns true if a file of an area may import a file. */
function mayImport(from: string, file: string): boolean {
  const to = areaOf(file);
  if (from === to) return true;
  // File with the version that the program reports.
  if (file === 'package.json') return from === 'src/base';
  if (apart[from]) return apart[from].imports.includes(to);
  if (apart[to]) return apart[to].users.includes(from);
  return rowOf(to) >= 0 && rowOf(to) < rowOf(from);
}

/** Returns imports that violate the order, as "a -> b". */
export const violationsOfOrder = (sources: readonly Source[]) =>
  importsWhere(sources, (path, file) => !mayImport(areaOf(path), file));

/** Lists of all markets and of all kinds. */
const registry = /^(?:src\/(?:markets|kinds)|sandbox)\/list\.ts$/;

/**
 * Returns imports of a market's or kind's folder from outside, except from the registry, and of a
 * registry by one of them.
 */
export const betweenSiblings = (sources: readonly Source[]) =>
  importsWhere(sources, (path, file) => {
    const folder = folderOf(file);
    if (registry.test(file)) return folderOf(path) !== undefined;
    return folder !== undefined && folder !== folderOf(path) && !registry.test(path);
  });

/**
 * Returns the top folder of a file of the console: "jobs", "ui", or "app", or undefined for other
 * files.
 */
const featureOf = (path: string) => /^console\/src\/([^/]+)\//.exec(path)?.[1];

/**
 * Returns imports of the console that go up or across: each feature's folder imports itself and
 * `ui`, which imports itself only; `app` composes them.
 */
export const betweenFeatures = (sources: readonly Source[]) =>
  importsWhere(sources, (path, file) => {
    const [from, to] = [featureOf(path), featureOf(file)];
    return from !== undefined && to !== undefined && from !== 'app' && to !== 'ui' && from !== to;
  });

/** Returns imports that are unavailable in a browser, as "a -> package". */
export const importsUnavailableInBrowsers = (sources: readonly Source[]) =>
  sources
    .filter(
      ({ path }) =>
        ['console', 'src/contract', 'src/present'].includes(areaOf(path)) &&
        !path.endsWith('.config.ts'),
    )
    .flatMap(({ path, packages }) =>
      packages.filter((name) => name.startsWith('node:')).map((name) => `${path} -> ${name}`),
    );

/** Terms of the service that must not occur in the gateway's code, comments, or tests. */
const serviceWords = /\bjobs?\b|[\s'"`(]\/v1\/|download_?url|\bprocessing\b/i;

/** Returns lines of the gateway's files that contain terms of the service, as "file:line: text". */
export const serviceWordsIn = (files: readonly { path: string; text: string }[]) =>
  files
    .filter(({ path }) => areaOf(path) === 'gateway')
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) =>
          serviceWords.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
        ),
    );

/** Returns files that import a driver outside of its folder. */
export const outsideOf = (sources: readonly Source[], name: RegExp, folder: RegExp) =>
  sources
    .filter(({ path, packages }) => !folder.test(path) && packages.some((used) => name.test(used)))
    .map(({ path }) => path);

/**
 * Streams, variables, and other state of a process, which runs of the command line must not share.
 */
const ofRun = [
  'argv',
  'console',
  'cwd',
  'exit',
  'exitCode',
  'on',
  'once',
  'stderr',
  'stdin',
  'stdout',
];

/**
 * Returns uses of `process` outside of entry points, as "file: property": environment variables
 * anywhere, and in the command line everything that differs between its runs.
 */
export const processUses = (sources: readonly Source[]) =>
  sources
    .filter(({ path }) => path !== 'src/cli/main.ts')
    .flatMap(({ path, ofProcess }) =>
      ofProcess
        .filter((name) => name === 'env' || (areaOf(path) === 'src/cli' && ofRun.includes(name)))
        .map((name) => `${path}: ${name}`),
    );

/** Maximum lines of a function. */
const maxFunctionLines = 60;

/** Returns functions of written code that are too long, as "file:line: lines". */
export const longFunctions = (sources: readonly Source[]) =>
  sources
    .filter(({ path }) => areaOf(path) !== 'gen')
    .flatMap(({ path, functions }) =>
      functions
        .filter(({ lines }) => lines > maxFunctionLines)
        .map(({ line, lines }) => `${path}:${line}: ${lines}`),
    );

/** Minimum lines of a file that only one other file imports. */
const minFileLines = 30;

/**
 * Importers of small files: generated registries, the vocabularies of languages, and the list of
 * pages whose code is loaded on demand.
 */
const registries =
  /^(?:src\/(?:markets|kinds)\/list|src\/markets\/availability\/vocabularies|console\/src\/app\/page-code)\.ts$/;

/**
 * Returns files that belong into the only file that imports them, as "file: importer": those with
 * few lines that do not say why they are files of their own. Leaves out generated code, and the
 * fake sites.
 */
export function smallFiles(sources: readonly Source[]): string[] {
  const importers = new Map<string, string[]>();
  for (const { path, files } of sources)
    for (const file of new Set(files)) importers.set(file, [...(importers.get(file) ?? []), path]);
  return sources.flatMap(({ path, lines, isOwnFile }) => {
    const [importer, ...others] = importers.get(path) ?? [];
    if (importer === undefined || others.length > 0 || registries.test(importer)) return [];
    if (lines >= minFileLines || isOwnFile || /^(?:gen|sandbox)\//.test(path)) return [];
    return [`${path}: ${importer}`];
  });
}

/**
 * Returns files outside of the folders of markets and kinds that compare a value with their names,
 * with these names.
 */
export const nameComparisons = (sources: readonly Source[], names: ReadonlySet<string>) =>
  sources
    .filter(({ path }) => folderOf(path) === undefined)
    .flatMap(({ path, compared }) =>
      compared.filter((text) => names.has(text)).map((text) => `${path}: '${text}'`),
    );

/**
 * Returns files outside of the folders of markets and kinds that contain a lookup table keyed by
 * their names, with the keys.
 */
export const lookupTables = (sources: readonly Source[], names: ReadonlySet<string>) =>
  sources
    .filter(({ path }) => folderOf(path) === undefined && !path.startsWith('gen/'))
    .flatMap(({ path, keys }) =>
      keys
        .filter((key) => key.split(/\W+/).some((word) => names.has(word)))
        .map((key) => `${path}: '${key}'`),
    );

/** Returns true for written code outside tests, conformance suites, and fixtures. */
export const isProductCode = (path: string) =>
  !/\.test\.tsx?$|^src\/[^/]+\/conformance(?:\/|\.ts$)|\/fixture(?:\/|\.ts$)|^test\//.test(path);

/**
 * Returns the places that spread an array or object which is written there, as "file:line: text".
 */
export const literalSpreads = (sources: readonly Source[]) =>
  sources.flatMap(({ path, literalSpreads }) =>
    literalSpreads.map((line) => `${path}:${line}: spread`),
  );

/** Participles and abstract nouns that say nothing about a value: name what it is. */
const translated = new Set([
  'asked',
  'called',
  'given',
  'grown',
  'kept',
  'known',
  'others',
  'place',
  'reading',
  'said',
  'shown',
  'told',
  'waited',
  'wanted',
  'whole',
]);

/** Returns variables and parameters with a name that says nothing, as "file:line: name". */
export const translatedNames = (sources: readonly Source[]) =>
  sources.flatMap(({ path, names }) =>
    names
      .filter(({ name }) => translated.has(name))
      .map(({ line, name }) => `${path}:${line}: ${name}`),
  );

/** A phrase that texts must not contain, with the term to use. */
interface RetiredPhrase {
  pattern: RegExp;
  term: string;
}

/** Returns the phrases that a configuration of textlint retires. */
export function retiredPhrases(configuration: string): RetiredPhrase[] {
  const { terms } = (JSON.parse(configuration) as TextlintConfiguration).rules.terminology;
  return terms
    .filter((term) => typeof term !== 'string')
    .map(([phrase, term]) => ({
      pattern: new RegExp(`(?<![\\w-])(?:${phrase})(?![\\w-])`, 'i'),
      term,
    }));
}

/** Configuration of textlint, as far as it is read here. */
interface TextlintConfiguration {
  rules: { terminology: { terms: (string | [phrase: string, term: string])[] } };
}

/** Returns titles of tests that contain a phrase, as "file:line: phrase -> term". */
export const titlesWith = (sources: readonly Source[], phrases: readonly RetiredPhrase[]) =>
  sources.flatMap(({ path, titles }) =>
    titles.flatMap(({ line, title }) =>
      phrases.flatMap(({ pattern, term }) => {
        const phrase = pattern.exec(title)?.[0];
        return phrase === undefined ? [] : [`${path}:${line}: ${phrase} -> ${term}`];
      }),
    ),
  );

/** Folders in src/markets that all markets import. */
const sharedMarketFolders: ReadonlySet<string> = new Set([
  'src/markets/availability',
  'src/markets/candidates',
  'src/markets/declared-sites',
  'src/markets/html',
  'src/markets/json',
  'src/markets/money',
  'src/markets/page-state',
  'src/markets/responses',
  'src/markets/structured-data',
  'src/markets/visible-page',
]);

/** Returns the folder of the market or kind that a path is in. */
function folderOf(path: string): string | undefined {
  const folder = /^(?:src\/(?:markets|kinds)|sandbox)\/[^/]+(?=\/)/.exec(path)?.[0];
  return folder === undefined || sharedMarketFolders.has(folder) ? undefined : folder;
}

const importsWhere = (sources: readonly Source[], holds: (path: string, file: string) => boolean) =>
  sources.flatMap(({ path, files }) =>
    files.filter((file) => holds(path, file)).map((file) => `${path} -> ${file}`),
  );
