import type { Command } from 'commander';
import type { Role } from '../../app/serve.ts';
import { loadConfig } from '../../base/config.ts';
import { collectGarbageOfStart, holdYoungGeneration, limitHeapGrowth } from '../../base/heap-size.ts';
import { addMaintenanceCommands } from './maintenance.ts';

const roles: Readonly<Record<Role, string>> = {
  serve: 'run everything in one process',
  api: 'run gateway and core; needs MONGODB_URI and NATS_URL',
  core: 'run the core alone; needs MONGODB_URI and NATS_URL',
  gateway: 'run the gateway in front of a remote core (GLEANER_CORE_URL)',
  worker: 'run a worker; needs MONGODB_URI and NATS_URL',
};

/**
 * Adds the commands that run the service, or work on its store beside it. What they need is loaded when they run:
 * a client's command starts in a fraction of the time that it takes to load the engines' drivers.
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
        const { untilStopped } = await import('../../app/stop.ts');
        const service = await serve(loadConfig(), role as Role, say);
        collectGarbageOfStart();
        limitHeapGrowth();
        await untilStopped();
        await service.stop();
      });
  }
  program
    .command('demo')
    .description('run real jobs on the bundled fake marketplaces, and check the results')
    .option('--distributed', 'on MongoDB and JetStream, with separate api and worker processes')
    .option('--market <name>', 'run the jobs of one marketplace only')
    .action(async ({ distributed, market }) => {
      const { demo } = await import('../../app/demo/demo.ts');
      process.exitCode = await demo({
        distributed: distributed === true,
        ...(market === undefined ? {} : { market }),
        say,
      });
    });
  program
    .command('engines')
    .description('start a local MongoDB and NATS until stopped, and print their addresses')
    .action(async () => {
      const { runEngines } = await import('../../app/engines.ts');
      await runEngines(say);
    });
  addMaintenanceCommands(program, say);
}
