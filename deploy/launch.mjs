#!/usr/bin/env node
// Sets up what is missing, then runs the command line in Node 24: `gleaner serve`, `gleaner demo` …
import { join } from 'node:path';
import { runNode } from './child.mjs';
import { buildConsole } from './console.mjs';
import { root, setUp } from './setup.mjs';

setUp();
// Roles that serve it.
if (['serve', 'api', 'gateway', 'demo'].includes(process.argv[2])) buildConsole();
process.exit(await runNode([join(root, 'src/cli/main.ts'), ...process.argv.slice(2)]));
