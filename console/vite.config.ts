import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The running service that `vite console` forwards API calls to during development. */
const service = 'http://127.0.0.1:8080';

/** Styles of @mantine/core that belong to no component. */
const baseStyles = ['baseline', 'default-css-variables', 'global']
  .map((name) => `import '@mantine/core/styles/${name}.css';`)
  .join('\n');

/**
 * Replaces the style sheets of whole packages, which main.tsx imports, by those of the components that a page
 * uses. A component's module imports the components inside it first, and so do its styles.
 */
const componentStyles: Plugin = {
  name: 'mantine-styles',
  apply: 'build',
  enforce: 'pre',
  resolveId: (id, importer) =>
    importer?.endsWith('/main.tsx') && /^@mantine\/\w+\/styles\.css$/.test(id) ? `\0${id}.js` : null,
  load: (id) =>
    id.startsWith('\0@mantine/') ? (id.startsWith('\0@mantine/core/') ? baseStyles : 'export {};') : null,
  transform(code, id) {
    const [, name, component] = /@mantine\/(\w+)\/esm\/.*\/(\w+)\.module\.mjs$/.exec(id) ?? [];
    if (name === undefined) return null;
    const sheet = name === 'core' ? `styles/${component}` : 'styles';
    return { code: `import '@mantine/${name}/${sheet}.css';\n${code}`, map: null };
  },
};

/** The modules of a build. */
interface Modules {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null;
}

let start: Set<string> | undefined;

/** Returns true for a module that the sign-in page needs. */
function isStart(id: string, modules: Modules): boolean {
  if (start === undefined) {
    start = new Set();
    const add = (needed: string): void => {
      if (start!.has(needed)) return;
      start!.add(needed);
      for (const imported of modules.getModuleInfo(needed)?.importedIds ?? []) add(imported);
    };
    for (const page of ['main.tsx', 'app/SignIn.tsx']) add(`${import.meta.dirname}/src/${page}`);
  }
  return start.has(id);
}

export default defineConfig({
  base: '/console/',
  plugins: [componentStyles, react()],
  build: {
    outDir: 'dist',
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Few files: each costs a request. The sign-in page loads no code of the other pages.
          groups: [
            {
              debugName: 'start',
              name: (id, chunking) => (isStart(id, chunking) ? 'start' : null),
              minShareCount: 6,
              priority: 2,
            },
            { name: 'shared', minShareCount: 6, priority: 1 },
          ],
        },
      },
      input: ['index.html', 'reference.html'].map((name) => `${import.meta.dirname}/${name}`),
    },
    target: 'es2022',
    // The content security policy allows data: URLs for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/gleaner.': service, '/v1': service, '/files': service, '/console/session': service } },
});
