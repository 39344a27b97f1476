import type { Command } from 'commander';
import { onRun } from '../program.ts';

/** Adds `site check` and `site learn`. */
export function addSiteCommands(program: Command): void {
  const site = program.command('site').description('Declare shops to read (docs/sites.md)');
  const check = site
    .command('check <file> <url>')
    .description('Read a product page with the declarations of a file, and show where each field comes from');
  onRun(check, async (io, _options: object, file, url) => {
    const { checkSite } = await import('../../app/site-check.ts');
    return (await checkSite(io.config(), io.path(file), url, io.say)) ? 0 : 1;
  });
  const learn = site
    .command('learn <url...>')
    .description('Propose a declaration from two or more product pages of one shop');
  onRun(learn, async (io, _options: object, urls) => {
    const { learnSite } = await import('../../app/site-check.ts');
    return (await learnSite(io.config(), urls as unknown as string[], io.say)) ? 0 : 1;
  });
}
