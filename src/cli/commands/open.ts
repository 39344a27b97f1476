import type { Command } from 'commander';
import { addCommand } from './command.ts';
import { UsageError } from './exit.ts';
import { findJobId } from './session.ts';

/** Named pages of the console: first for users, then for operators. */
export const pages = [
  'jobs',
  'submit',
  'try',
  'schedules',
  'history',
  'rules',
  'prices',
  'ledger',
  'keys',
  'destinations',
  'webhook',
  'approvals',
  'users',
  'operators',
  'origins',
  'work',
  'deliveries',
  'audit',
  'settings',
];

export function addOpenCommand(program: Command): void {
  addCommand(program, {
    usage: 'open [page]',
    about: `Open the console in the browser, at a job or a page: ${pages.join(', ')}`,
    as: 'either',
    async run(session, _options, page: string | undefined) {
      const base = `${session.settings.url.value.replace(/\/+$/, '')}/console`;
      const path = page === undefined || pages.includes(page) ? (page ?? '') : await jobPath(page);
      const address = path === '' ? base : `${base}/${path}`;
      await session.write(
        session.isJson ? `${JSON.stringify({ url: address })}\n` : `${address}\n`,
      );
      // Scripts want the address only.
      if (session.isJson || !session.io.stdout.isTTY) return;
      const { default: openBrowser } = await import('open');
      await openBrowser(address);

      async function jobPath(text: string): Promise<string> {
        if (!/\d/.test(text))
          throw new UsageError(`No page "${text}". Pass a job, or one of ${pages.join(', ')}.`);
        // The console knows jobs by their UUID.
        return `jobs/${await findJobId(session, text)}`;
      }
    },
  });
}
