import type { Command } from 'commander';
import { loadConfig } from '../../base/config.ts';

/** What the commands take beside market, kind and id. */
interface PageFlags {
  region?: string;
  save?: string;
  browser?: true;
  body?: string;
}

/** Adds the commands that look at one page: as it is now, and as it was saved. */
export function addPageCommands(program: Command, say: (line: string) => void): void {
  const page = program.command('page').description('look at one page as a worker reads it');
  page
    .command('fetch <market> <kind> <id-or-url>')
    .description('ask the site: request, times, body, record, and which listed fields are missing')
    .option('--region <id>', 'region, for a market that has several')
    .option('--save <file>', 'where the body goes; by default into the data folder')
    .option('--browser', 'by the browser, whatever the origins file says')
    .action(async (market, kind, id, options: PageFlags) => {
      const { runFetch } = await import('../../app/page.ts');
      const { targetOf } = await import('../../app/page/target.ts');
      const isRead = await runFetch(loadConfig(), targetOf(market, kind, id, options.region), options, say);
      process.exitCode = isRead ? 0 : 1;
    });
  page
    .command('extract <market> <kind> <id-or-url>')
    .description('read a saved body again, without asking the site')
    .option('--region <id>', 'region, for a market that has several')
    .option('--body <file>', 'the saved body; by default the one that fetch saved last')
    .action(async (market, kind, id, { region, body }: PageFlags) => {
      const { runExtract } = await import('../../app/page.ts');
      const { targetOf } = await import('../../app/page/target.ts');
      const isRead = await runExtract(loadConfig(), targetOf(market, kind, id, region), body, say);
      process.exitCode = isRead ? 0 : 1;
    });
}
