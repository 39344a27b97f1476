import type { Command } from 'commander';
import type { Io } from '../io.ts';
import { onRun } from '../program.ts';
import { marketPath, regionCode } from './market-names.ts';

interface PageFlags {
  region?: string;
  save?: string;
  browser?: true;
  body?: string;
}

/** Adds `page fetch`, `page extract`, `site check`, and `site learn`. */
export function addPageCommands(program: Command): void {
  const page = program.command('page').description('Inspect a single page as a worker reads it');
  const fetching = page
    .command('fetch <market> <kind> <id-or-url>')
    .description('Fetch a page, and show requests, times, record, and missing fields')
    .option('--region <id>', 'region, if the market has several')
    .option('--save <file>', 'path of the saved body (default: in the data folder)')
    .option('--browser', 'fetch with the browser, whatever the origins file says');
  onRun(fetching, async (io, { region, save, ...options }: PageFlags, market, kind, id) => {
    const { runFetch } = await import('../../tools/page.ts');
    const saveOptions = save === undefined ? {} : { save: io.path(save) };
    const target = await openNamed(io, market, kind, id, region);
    if (await runFetch(io.config(), target, { ...options, ...saveOptions }, io.say)) return 0;
    return 1;
  });
  const extract = page
    .command('extract <market> <kind> <id-or-url>')
    .description('Read a saved page again without a request')
    .option('--region <id>', 'region, if the market has several')
    .option('--body <file>', 'path of the saved body (default: saved by the last fetch)');
  onRun(extract, async (io, { region, body }: PageFlags, market, kind, id) => {
    const { runExtract } = await import('../../tools/page.ts');
    const target = await openNamed(io, market, kind, id, region);
    const file = body === undefined ? undefined : io.path(body);
    return (await runExtract(io.config(), target, file, io.say)) ? 0 : 1;
  });
  addSiteCommands(program);
}

/** Opens the page of a marketplace and a region, each by its name or its code. */
async function openNamed(io: Io, market: string, kind: string, id: string, region?: string) {
  const { openTarget } = await import('../../tools/page.ts');
  return openTarget(io.config(), marketPath(market), kind, id, region && regionCode(region));
}

/** Adds `site check` and `site learn`. */
function addSiteCommands(program: Command): void {
  const site = program.command('site').description('Declare shops to read (docs/sites.md)');
  const check = site
    .command('check <file> <url>')
    .description(
      'Read a product page with the declarations of a file, and show where each field comes from',
    )
    .option('--listing', 'read the first page of a category or a search instead');
  onRun(check, async (io, { listing }: { listing?: true }, file, url) => {
    const { checkSite } = await import('../../tools/site-check.ts');
    const page = listing ? 'search' : 'product';
    return (await checkSite(io.config(), io.path(file), url, io.say, { page })) ? 0 : 1;
  });
  const learn = site
    .command('learn <url...>')
    .description('Propose a declaration from two or more product pages of one shop');
  onRun(learn, async (io, _options: object, urls) => {
    const { learnSite } = await import('../../tools/site-check.ts');
    if (await learnSite(io.config(), urls as unknown as string[], io.say)) return 0;
    return 1;
  });
}
