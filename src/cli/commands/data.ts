import type { Command } from 'commander';
import { loadConfig } from '../../base/config.ts';

/** Adds the commands that migrate and copy data: `migrate`. */
export function addDataCommands(program: Command, say: (line: string) => void): void {
  program
    .command('migrate')
    .description('Bring the data to the schema version of this program; every role also does so at its start')
    .option('--wait <seconds>', 'maximum wait for a store that does not respond', '60')
    .action(async ({ wait }: { wait: string }) => {
      const [{ migrateStore }, { integer }] = await Promise.all([
        import('../../app/migrate.ts'),
        import('./command.ts'),
      ]);
      const waitMs = integer('--wait', wait, 60) * 1000;
      const { engine, version } = await migrateStore(loadConfig(), { waitMs });
      say(`${engine}: schema version ${version}`);
    });
}
