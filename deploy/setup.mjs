// Installs what runs the service, and builds the console. With --all, also installs what tests and
// checks need.
import { buildConsole, isConsoleBuilt } from './console.mjs';
import { installAll, installService, isSetUp } from './install.mjs';

const all = process.argv.includes('--all');
if (isSetUp({ all }) && isConsoleBuilt())
  console.error('Setting up: everything is installed and built.');
else {
  await (all ? installAll() : installService());
  if (!(await buildConsole())) process.exit(1);
}
