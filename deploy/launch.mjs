#!/usr/bin/env node
// Runs the command line (`gleaner serve`, `gleaner demo`, …): bundled in an installed package, from the
// sources in a checkout, which is set up first. In a checkout, an older Node delegates to the Node 24
// installed as a package.
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runNode } from './child.mjs';
import { isInstalled, root } from './place.mjs';
import { onStarterExit } from './starter.mjs';

// Halves the startup time of commands. Worker processes inherit it.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'compiled');
// npm runs scripts in the root folder; relative paths belong to the folder of its caller.
if (process.env.npm_lifecycle_event === 'gleaner' && process.env.INIT_CWD)
  process.chdir(process.env.INIT_CWD);
const program = join(root, isInstalled ? 'dist/main.js' : 'src/cli/main.ts');

if (!isInstalled) {
  const { setUp } = await import('./setup.mjs');
  setUp();
  const { buildConsole } = await import('./console.mjs');
  // Roles that serve the console.
  if (['serve', 'api', 'gateway', 'demo', 'dev'].includes(process.argv[2])) buildConsole();
}

const [major, minor] = process.versions.node.split('.').map(Number);
// Compiled, it needs the SQLite of that version.
const isSupported = major > 24 || (major === 24 && minor >= 12);
if (isInstalled && !isSupported) {
  console.error(`Gleaner needs Node 24.12 or newer; this is ${process.version}.`);
  process.exit(1);
}
// Node runs TypeScript without a warning since 24.12.
if (isSupported) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  onStarterExit(() => process.kill(process.pid, 'SIGTERM'));
  await import(pathToFileURL(program).href);
} else {
  process.exit(await runNode([program, ...process.argv.slice(2)]));
}
