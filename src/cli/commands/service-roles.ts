import type { Command } from 'commander';
import type { Role } from '../../app/serve.ts';
import { isolatedEnvironment, loadConfig } from '../../base/config.ts';
import { collectGarbage, holdYoungGeneration, limitHeapGrowth } from '../../base/heap-size.ts';
import { integer } from './command.ts';
import { addMaintenanceCommands } from './maintenance.ts';

const roles: Readonly<Record<Role, string>> = {
  serve: 'Run everything in one process',
  api: 'Run the gateway and the core (requires MONGODB_URI and NATS_URL)',
  core: 'Run the core only (requires MONGODB_URI and NATS_URL)',
  gateway: 'Run the gateway for a remote core (GLEANER_CORE_URL)',
  worker: 'Run a worker (requires MONGODB_URI and NATS_URL)',
};

/**
 * Adds the commands that run the service or work on its store. Their modules are loaded when they run: loading the
 * engines' drivers takes several times as long as a client command.
 */
export function addServiceRoles(program: Command, say: (line: string) => void): void {
  program.commandsGroup('The service:');
  for (const [role, description] of Object.entries(roles)) {
    program
      .command(role)
      .description(description)
      .action(async () => {
        holdYoungGeneration();
        const { serve } = await import('../../app/serve.ts');
        const { waitForStop } = await import('../../app/stop.ts');
        const service = await serve(loadConfig(), role as Role, { say });
        collectGarbage();
        limitHeapGrowth();
        const refused = await Promise.race([waitForStop(), service.refused]);
        await service.stop();
        if (refused) throw refused;
      });
  }
  program
    .command('demo')
    .description('Run jobs on the bundled fake marketplaces, and check the results')
    .option('--distributed', 'use MongoDB and JetStream, with separate api and worker processes')
    .option('--keep', 'keep the service and the fake marketplaces running, and print a sign-in key')
    .option('--market <name>', 'run the jobs of one marketplace only')
    .action(async ({ distributed, keep, market }) => {
      const { demo } = await import('../../app/demo/demo.ts');
      process.exitCode = await demo({
        distributed: distributed === true,
        keep: keep === true,
        dataDir: loadConfig(isolatedEnvironment()).dataDir,
        ...(market === undefined ? {} : { market }),
        say,
      });
    });
  program
    .command('dev')
    .description('Run everything on this machine with a new test key, for development against the sandbox')
    .option('--data <folder>', 'folder for the data (default: a temporary one, deleted at the end)')
    .option('--port <port>', 'port of the REST API; 0 selects a free one (default: 8080)')
    .action(async ({ data, port }: { data?: string; port?: string }) => {
      const { dev } = await import('../../app/dev.ts');
      await dev({ dataDir: data ?? null, port: integer('--port', port, 8080), say });
    });
  program
    .command('engines')
    .description('Start a local MongoDB and NATS, and print their addresses')
    .action(async () => {
      const { runEngines } = await import('../../app/engines.ts');
      await runEngines(say);
    });
  addMaintenanceCommands(program, say);
}
