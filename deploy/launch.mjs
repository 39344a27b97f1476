#!/usr/bin/env node
// Runs the command line (`gleaner serve`, `gleaner demo`, …) from the sources of a checkout, which is set up
// first. An older Node delegates to the Node 24 installed as a package.
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runNode } from './child.mjs';
import { buildConsole } from './console.mjs';
import { root, setUp } from './setup.mjs';

// Halves the startup time of commands. Worker processes inherit it.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'compiled');
// npm runs scripts in the root folder; relative paths belong to the folder of its caller.
if (process.env.npm_lifecycle_event === 'gleaner' && process.env.INIT_CWD)
  process.chdir(process.env.INIT_CWD);
const program = join(root, 'src/cli/main.ts');

setUp();
// Roles that serve the console.
if (['serve', 'api', 'gateway', 'demo', 'dev'].includes(process.argv[2])) buildConsole();

const [major, minor] = process.versions.node.split('.').map(Number);
// Node runs TypeScript without a warning since 24.12.
if (major > 24 || (major === 24 && minor >= 12)) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  await import(pathToFileURL(program).href);
} else process.exit(await runNode([program, ...process.argv.slice(2)]));
