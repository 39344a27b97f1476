#!/usr/bin/env node
// Runs the command line (`gleaner serve`, `gleaner demo`, …) from the sources of a checkout, which
// is set up first. An older Node delegates to the Node 24 installed as a package.
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runNode } from './child.mjs';
import { buildConsole, buildConsoleBeside, hasConsole } from './console.mjs';
import { installService } from './install.mjs';
import { compileCache, isRecentNode, root } from './place.mjs';

// Worker processes inherit it.
process.env.NODE_COMPILE_CACHE ??= compileCache;
// npm runs scripts in the root folder; relative paths belong to the folder of its caller.
if (process.env.npm_lifecycle_event === 'gleaner' && process.env.INIT_CWD)
  process.chdir(process.env.INIT_CWD);
// The program knows nothing of tests; their engines exist only in a checkout.
process.env.ENGINES_PROGRAM ??= join(root, 'test/engines/main.ts');
const program = join(root, 'src/cli/main.ts');

await installService();
if (servesConsole(process.argv.slice(2))) {
  // An outdated build would change under the service. Without a build, the service starts while it
  // is built.
  if (hasConsole()) await buildConsole();
  else buildConsoleBeside();
}

/** Returns true for the roles that serve the console until they are stopped. */
function servesConsole([role, ...options]) {
  if (options.includes('--help') || options.includes('-h')) return false;
  if (role === 'demo') return options.includes('--keep');
  return ['serve', 'api', 'gateway', 'dev'].includes(role);
}

if (isRecentNode()) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  await import(pathToFileURL(program).href);
} else process.exit(await runNode([program, ...process.argv.slice(2)]));
