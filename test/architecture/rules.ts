import type { Source } from './source.ts';

/**
 * Areas from what is used by all to what uses all. An area imports those of the rows above its own;
 * those of one row don't know each other, except for `neighbours`.
 */
const rows: readonly (readonly string[])[] = [
  ['gen'],
  ['src/contract'],
  ['src/base'],
  ['src/store', 'src/queue', 'src/blobs', 'src/fetch', 'src/links'],
  ['src/credits', 'src/access', 'src/markets', 'src/kinds', 'src/drift'],
  ['src/jobs', 'src/notify'],
  ['src/rpc', 'src/worker', 'src/sweep'],
  ['src/app'],
];

/** Within a row: ports speak of the store's documents, kinds of what a market is. */
const neighbours: readonly [from: string, file: RegExp][] = [
  ['src/queue', /^src\/store\/documents\.ts$/],
  ['src/blobs', /^src\/store\/documents\.ts$/],
  ['src/fetch', /^src\/store\/origin-state\.ts$/],
  ['src/kinds', /^src\/markets\/market\.ts$/],
];

/** Areas beside the rows: what they import, and who imports them. */
const apart: Readonly<Record<string, { imports: readonly string[]; users: readonly string[] }>> = {
  // A package of its own: it knows the contract, not the service.
  gateway: { imports: ['gen', 'src/contract'], users: ['src/rest'] },
  // The REST interface of this service over the gateway.
  'src/rest': { imports: ['gateway', 'gen', 'src/base', 'src/contract'], users: ['src/app'] },
  // A web page of its own: nothing of the service runs in a browser.
  console: { imports: ['gen', 'src/contract'], users: [] },
  // Fake sites, started as a process of their own. `direct.ts` implements the fetch port for tests.
  sandbox: { imports: ['src/fetch'], users: [] },
  // What a caller's program would be: it knows the contract, not the service.
  'src/client': { imports: ['gen', 'src/contract'], users: ['src/app', 'src/cli'] },
  // Commands and their output: what runs the service is in src/app.
  'src/cli': { imports: ['gen', 'src/base', 'src/contract', 'src/client', 'src/app'], users: [] },
};

/** Folders in which a driver may be imported. */
export const drivers: readonly [name: RegExp, folder: RegExp][] = [
  [/^mongodb$/, /^src\/store\/mongo\//],
  [/^(?:node:)?sqlite$/, /^src\/store\/sqlite\//],
  [/^nats$/, /^src\/queue\/jetstream\//],
  [/^@aws-sdk\//, /^src\/blobs\/s3\//],
  [/^undici$/, /^src\/fetch\//],
  [/^(?:nodemailer|standardwebhooks)$/, /^src\/notify\//],
  [/^puppeteer/, /^src\/fetch\/browser\//],
  [/^lru-cache$/, /^(?:src\/base|gateway)\//],
  [/^(?:busboy|negotiator)$/, /^gateway\//],
  [/^express$/, /^(?:gateway|src\/rest)\//],
];

/** The area of a path: "src/jobs" for "src/jobs/work.ts"; outside src the top-level folder. */
export function areaOf(path: string): string {
  const [top, second] = path.split('/');
  return top === 'src' ? `${top}/${second}` : top!;
}

const rowOf = (area: string) => rows.findIndex((row) => row.includes(area));

/** Returns true if an area has a place in the order. */
export const isKnown = (area: string) => area in apart || rowOf(area) >= 0;

/** Returns true if a file of an area may import a file. */
function mayImport(from: string, file: string): boolean {
  const to = areaOf(file);
  if (from === to) return true;
  // The version that the program reports.
  if (file === 'package.json') return from === 'src/app' || from === 'src/cli';
  if (apart[from]) return apart[from].imports.includes(to);
  if (apart[to]) return apart[to].users.includes(from);
  if (neighbours.some(([area, files]) => area === from && files.test(file))) return true;
  return rowOf(to) >= 0 && rowOf(to) < rowOf(from);
}

/** Returns imports against the order, as "a -> b". */
export const againstArrows = (sources: readonly Source[]) =>
  importsWhere(sources, (path, file) => !mayImport(areaOf(path), file));

/** Imports of one market's or kind's folder by anyone but itself and the list of its kind. */
export const betweenSiblings = (sources: readonly Source[]) =>
  importsWhere(sources, (path, file) => {
    const folder = folderOf(file);
    return (
      folder !== undefined &&
      folder !== folderOf(path) &&
      !/^(?:src\/(?:markets|kinds)|sandbox)\/list\.ts$/.test(path)
    );
  });

/** Returns imports that are unavailable in a browser, as "a -> package". */
export const notForBrowsers = (sources: readonly Source[]) =>
  sources
    .filter(({ path }) => ['console', 'src/contract'].includes(areaOf(path)) && !path.endsWith('.config.ts'))
    .flatMap(({ path, packages }) =>
      packages.filter((name) => name.startsWith('node:')).map((name) => `${path} -> ${name}`),
    );

/** Words of the service that the gateway must not have, in code, comments and tests. */
const serviceWords = /\bjobs?\b|[\s'"`(]\/v1\/|download_?url|\bprocessing\b/i;

/** Lines of the gateway's files that contain words of the service, as "file:line: text". */
export const serviceWordsIn = (files: readonly { path: string; text: string }[]) =>
  files
    .filter(({ path }) => areaOf(path) === 'gateway')
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) => (serviceWords.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    );

/** Returns files that import a driver outside of its folder. */
export const outsideOf = (sources: readonly Source[], name: RegExp, folder: RegExp) =>
  sources
    .filter(({ path, packages }) => !folder.test(path) && packages.some((used) => name.test(used)))
    .map(({ path }) => path);

/** Returns files other than the configuration that read environment variables. */
export const readersOfEnvironment = (sources: readonly Source[]) =>
  sources
    .filter(({ path, readsEnvironment }) => readsEnvironment && path !== 'src/base/config.ts')
    .map(({ path }) => path);

/** Files outside of the markets' and kinds' own that ask which of them something is, with what they compare. */
export const askers = (sources: readonly Source[], names: ReadonlySet<string>) =>
  sources
    .filter(({ path }) => folderOf(path) === undefined)
    .flatMap(({ path, compared }) =>
      compared.filter((text) => names.has(text)).map((text) => `${path}: '${text}'`),
    );

/** Files outside of the markets' and kinds' own that hold a lookup table keyed by them, with the keys. */
export const lookupTables = (sources: readonly Source[], names: ReadonlySet<string>) =>
  sources
    .filter(({ path }) => folderOf(path) === undefined && !path.startsWith('gen/'))
    .flatMap(({ path, keys }) =>
      keys
        .filter((key) => key.split(/\W+/).some((word) => names.has(word)))
        .map((key) => `${path}: '${key}'`),
    );

/** The folder of one market or kind, of a path inside one. */
const folderOf = (path: string) => /^(?:src\/(?:markets|kinds)|sandbox)\/[^/]+(?=\/)/.exec(path)?.[0];

const importsWhere = (sources: readonly Source[], holds: (path: string, file: string) => boolean) =>
  sources.flatMap(({ path, files }) =>
    files.filter((file) => holds(path, file)).map((file) => `${path} -> ${file}`),
  );
