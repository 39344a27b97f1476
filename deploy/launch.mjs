#!/usr/bin/env node
// Sets up what is missing, then runs the command line in Node 24: `gleaner serve`, `gleaner demo` …
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runNode } from './child.mjs';
import { buildConsole } from './console.mjs';
import { isInstalled, root } from './place.mjs';
import { setUp } from './setup.mjs';

// Halves the time that a command takes to start; whoever has a cache of their own keeps it.
const { NODE_COMPILE_CACHE = join(root, 'node_modules', '.cache', 'compiled') } = process.env;
const program = [join(root, 'src/cli/main.ts'), ...process.argv.slice(2)];
if (isInstalled) {
  // npm has set everything up, and the console came built.
  const strip = pathToFileURL(join(root, 'deploy/strip-types.mjs')).href;
  // What takes the types out is a release candidate of Node's, and says so at every start.
  process.exit(
    await runNode(['--disable-warning=ExperimentalWarning', '--import', strip, ...program], {
      NODE_COMPILE_CACHE,
    }),
  );
}
setUp();
// Roles that serve it.
if (['serve', 'api', 'gateway', 'demo'].includes(process.argv[2])) buildConsole();
process.exit(await runNode(program, { NODE_COMPILE_CACHE }));
