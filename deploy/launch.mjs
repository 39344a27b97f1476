#!/usr/bin/env node
// Runs the command line, `gleaner serve`, `gleaner demo` …: compiled in a package that npm has installed, from the
// sources in a checkout, which is set up first. An older Node hands over to the Node 24 that comes as a package.
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runNode } from './child.mjs';
import { isInstalled, root } from './place.mjs';
import { onStarterGone } from './starter.mjs';

// Halves the time that a command takes to start. Worker processes inherit it.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'compiled');
const program = join(root, isInstalled ? 'dist/main.js' : 'src/cli/main.ts');

if (!isInstalled) {
  const { setUp } = await import('./setup.mjs');
  setUp();
  const { buildConsole } = await import('./console.mjs');
  // Roles that serve it.
  if (['serve', 'api', 'gateway', 'demo'].includes(process.argv[2])) buildConsole();
}

// Since 24.12 Node runs TypeScript without a warning.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 24 || (major === 24 && minor >= 12)) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  onStarterGone(() => process.kill(process.pid, 'SIGTERM'));
  await import(pathToFileURL(program).href);
} else {
  process.exit(await runNode([program, ...process.argv.slice(2)]));
}
