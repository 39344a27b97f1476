import type { Command } from 'commander';
import type { BrowserInstallOptions } from '../../app/browser-install.ts';
import { onRun } from '../program.ts';

/** Adds `browser install`. */
export function addBrowserCommands(program: Command): void {
  const install = program
    .command('browser')
    .description('Manage the browser of marketplaces that need one')
    .command('install')
    .description('Download Chrome for Testing to the data folder')
    .option('--with-deps', 'also install the system packages that it needs (Debian and Ubuntu, as root)')
    .option('--from <url>', 'mirror of Chrome for Testing to download from');
  onRun(install, async (io, flags: Omit<BrowserInstallOptions, 'dataDir'>) => {
    const { installBrowser } = await import('../../app/browser-install.ts');
    const { version, path } = await installBrowser({ ...flags, dataDir: io.config().dataDir });
    io.say(`Chrome ${version}: ${path}`);
  });
}
