import type { Command } from 'commander';
import { loadConfig } from '../../base/config.ts';

/** Options of the page commands. */
interface PageFlags {
  region?: string;
  save?: string;
  browser?: true;
  body?: string;
}

/** Adds `page fetch` and `page extract`. */
export function addPageCommands(program: Command, say: (line: string) => void): void {
  const page = program.command('page').description('Inspect a single page as a worker reads it');
  page
    .command('fetch <market> <kind> <id-or-url>')
    .description('Fetch a page, and show requests, times, record, and missing fields')
    .option('--region <id>', 'region, if the market has several')
    .option('--save <file>', 'path of the saved body (default: in the data folder)')
    .option('--browser', 'fetch with the browser, whatever the origins file says')
    .action(async (market, kind, id, options: PageFlags) => {
      const { runFetch } = await import('../../app/page.ts');
      const { targetOf } = await import('../../app/page/target.ts');
      const isRead = await runFetch(loadConfig(), targetOf(market, kind, id, options.region), options, say);
      process.exitCode = isRead ? 0 : 1;
    });
  page
    .command('extract <market> <kind> <id-or-url>')
    .description('Read a saved page again without a request')
    .option('--region <id>', 'region, if the market has several')
    .option('--body <file>', 'path of the saved body (default: saved by the last fetch)')
    .action(async (market, kind, id, { region, body }: PageFlags) => {
      const { runExtract } = await import('../../app/page.ts');
      const { targetOf } = await import('../../app/page/target.ts');
      const isRead = await runExtract(loadConfig(), targetOf(market, kind, id, region), body, say);
      process.exitCode = isRead ? 0 : 1;
    });
}
