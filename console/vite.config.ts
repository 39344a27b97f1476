import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { subsetTypeface } from './typeface.config.ts';

/** The running service that `vite console` forwards API calls to during development. */
const service = 'http://127.0.0.1:8080';

/** Styles of @mantine/core that belong to no component. */
const baseStyles = ['baseline', 'default-css-variables', 'global']
  .map((name) => `import '@mantine/core/styles/${name}.css';`)
  .join('\n');

/**
 * Replaces the style sheets of whole packages, which main.tsx imports, by those of the components
 * that a page uses. A component's module imports the components inside it first, and so do its
 * styles.
 */
const componentStyles: Plugin = {
  name: 'mantine-styles',
  apply: 'build',
  enforce: 'pre',
  resolveId: (id, importer) =>
    importer?.endsWith('/main.tsx') && /^@mantine\/\w+\/styles\.css$/.test(id)
      ? `\0${id}.js`
      : null,
  load(id) {
    if (!id.startsWith('\0@mantine/')) return null;
    return id.startsWith('\0@mantine/core/') ? baseStyles : 'export {};';
  },
  transform(code, id) {
    const [, name, component] = /@mantine\/(\w+)\/esm\/(?:.*\/)?(\w+)\.module\.mjs$/.exec(id) ?? [];
    if (name === undefined) return null;
    const sheet = name === 'core' ? `styles/${component}` : 'styles';
    // Without side effects, the bundler may leave out a module with its styles.
    return {
      code: `import '@mantine/${name}/${sheet}.css';\n${code}`,
      map: null,
      moduleSideEffects: true,
    };
  },
};

/** Packages whose index imports every module of theirs, and the folder of the index. */
const indexed = ['@mantine/core', '@mantine/hooks', '@tabler/icons-react'];

/** Returns the module and the export behind each name of a package's index. */
function exportsOf(name: string): Map<string, [file: string, as: string]> {
  const index = fileURLToPath(import.meta.resolve(name)).replace(
    /\/cjs\/(.*)\.[a-z]+$/,
    '/esm/$1.mjs',
  );
  const folder = dirname(index);
  const lines = readFileSync(index, 'utf8').matchAll(
    /^(?:im|ex)port \{ (.+) \} from ["'](\..+)["'];$/gm,
  );
  return new Map(
    [...lines].flatMap(([, names, file]) =>
      names!.split(', ').map((each) => {
        const [from, to = from] = each.split(' as ');
        return [to!, [join(folder, file!), from!]] as const;
      }),
    ),
  );
}

/**
 * Imports the modules of a component instead of the index of its package, so that they are known by
 * page.
 */
const directImports: Plugin = {
  name: 'direct-imports',
  apply: 'build',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/console\/src\/.*\.tsx?$/.test(id)) return null;
    let direct = code;
    for (const name of indexed)
      direct = direct.replace(
        new RegExp(`^import \\{([^}]+)\\} from '${name}';$`, 'gm'),
        (_all, names: string) =>
          names
            .split(',')
            .map((each) => each.trim())
            .filter((each) => each !== '' && !each.startsWith('type '))
            .map((each) => importOf(name, each))
            .join(' '),
      );
    return { code: direct, map: null };
  },
};

/** Exports of the indexed packages, by package. */
const exportsByPackage = new Map<string, ReturnType<typeof exportsOf>>();

/** Returns the import of a name of an indexed package from the module that has it. */
function importOf(name: string, imported: string): string {
  const exported = exportsByPackage.get(name) ?? exportsOf(name);
  exportsByPackage.set(name, exported);
  const [file, as] = exported.get(imported) ?? [name, imported];
  return `import { ${as} as ${imported} } from '${file}';`;
}

const sourceOf = (name: string) => join(import.meta.dirname, 'src', name);

/** The modules of a build. */
interface Modules {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null;
}

/** Returns a module and the modules that it imports, except for those that it loads later. */
function withImports(id: string, modules: Modules, found = new Set<string>()): Set<string> {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of modules.getModuleInfo(id)?.importedIds ?? [])
    withImports(imported, modules, found);
  return found;
}

/** Files of the build with code of several pages, in their order, and the modules that need it. */
const parts = {
  entry: ['main.tsx'],
  start: ['app/App.tsx'],
  calls: ['ui/session/transport.ts', '../../gen/gleaner/job/v1/job_pb.ts'],
  shell: ['app/Pages.tsx'],
  jobs: ['jobs/JobsPage.tsx'],
  job: ['jobs/JobPage.tsx'],
  popups: ['ui/popup/MenuDropdown.tsx', 'jobs/records/FieldsPopover.tsx'],
  dialogs: ['ui/actions/ConfirmModal.tsx', 'jobs/records/RecordDrawer.tsx'],
};
let modulesOf: [name: string, ids: Set<string>][] | undefined;

/** Returns the file for a module; null for modules of other pages. */
function partOf(id: string, modules: Modules): string | null {
  modulesOf ??= Object.entries(parts).map(([name, files]) => {
    const ids = new Set<string>();
    for (const file of files) withImports(sourceOf(file), modules, ids);
    return [name, ids];
  });
  return modulesOf.find(([, ids]) => ids.has(id))?.[0] ?? null;
}

/**
 * Lets browsers load the code of the sign-in page beside the entry, which imports it, and the
 * typeface before a text needs it.
 */
const preloadStart: Plugin = {
  name: 'preload-start',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle, filename }) {
      if (!filename.endsWith('index.html')) return [];
      const chunks = Object.values(bundle ?? {}).filter((output) => output.type === 'chunk');
      const start = chunks.find(({ moduleIds }) => moduleIds.includes(sourceOf('app/App.tsx')));
      const style = [...(start?.viteMetadata?.importedCss ?? [])];
      const typeface = Object.keys(bundle ?? {}).filter((name) =>
        /inter-latin-.*\.woff2$/.test(name),
      );
      const link =
        (rel: string, attributes: Record<string, string> = {}) =>
        (file: string) => ({
          tag: 'link',
          attrs: { rel, ...attributes, crossorigin: true, href: `./${file}` },
        });
      return [
        ...(start ? [start.fileName] : []).map(link('modulepreload')),
        ...style.map(link('stylesheet')),
        ...typeface.map(link('preload', { as: 'font', fetchpriority: 'low' })),
      ];
    },
  },
};

export default defineConfig(async ({ command }) => ({
  // A build is served below the path of the public address.
  base: command === 'build' ? './' : '/console/',
  resolve: { alias: await subsetTypeface() },
  plugins: [componentStyles, directImports, preloadStart, react()],
  build: {
    outDir: 'dist',
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Few files: each costs a request. The sign-in page loads no code of the other pages.
          groups: [
            ...Object.keys(parts).map((name, at) => ({
              debugName: name,
              name: (id: string, modules: Modules) => (partOf(id, modules) === name ? name : null),
              priority: 10 - at,
            })),
            { name: 'shared', minShareCount: 13, priority: 1 },
          ],
        },
      },
      input: ['index.html', 'reference.html', 'try.html'].map(
        (name) => `${import.meta.dirname}/${name}`,
      ),
    },
    target: 'es2022',
    // The content security policy allows data: URLs for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: { '/gleaner.': service, '/v1': service, '/files': service, '/console/session': service },
  },
}));
