import type { Command } from 'commander';
import type { BrowserInstallOptions } from '../../app/browser-install.ts';
import { loadConfig } from '../../base/config.ts';

/** Adds `browser install`. */
export function addBrowserCommands(program: Command, say: (line: string) => void): void {
  program
    .command('browser')
    .description('Manage the browser of marketplaces that need one')
    .command('install')
    .description('Download Chrome for Testing to the data folder')
    .option('--with-deps', 'also install the system packages that it needs (Debian and Ubuntu, as root)')
    .option('--from <url>', 'mirror of Chrome for Testing to download from')
    .action(async (flags: Omit<BrowserInstallOptions, 'dataDir'>) => {
      const { installBrowser } = await import('../../app/browser-install.ts');
      const { version, path } = await installBrowser({ ...flags, dataDir: loadConfig().dataDir });
      say(`Chrome ${version}: ${path}`);
    });
}
