import type { Command } from 'commander';
import type { ProcessRole } from '../../app/roles.ts';
import { untilAborted } from '../../base/abort.ts';
import { isolatedEnvironment, loadConfig } from '../../base/config.ts';
import { collectGarbage, limitHeapGrowth } from '../../base/heap-size.ts';
import type { Environment } from '../../base/secret-files.ts';
import type { Io } from '../io.ts';
import { onRun } from '../program.ts';
import { integer } from './command.ts';
import { addMaintenanceCommands } from './maintenance.ts';

const roles: Readonly<Record<ProcessRole, string>> = {
  serve: 'Run everything in one process',
  api: 'Run the gateway and the core (requires MONGODB_URI and NATS_URL)',
  core: 'Run the core only (requires MONGODB_URI and NATS_URL)',
  gateway: 'Run the gateway for a remote core (GLEANER_CORE_URL)',
  worker: 'Run a worker (requires MONGODB_URI and NATS_URL)',
};

/**
 * Adds the commands that run the service or work on its store. Their modules are loaded when they
 * run: loading the engines' drivers takes several times as long as a client command.
 */
export function addServiceRoles(program: Command): void {
  program.commandsGroup('The service:');
  for (const [role, description] of Object.entries(roles))
    onRun(program.command(role).description(description), (io) => runRole(io, role as ProcessRole));
  const demo = program
    .command('demo')
    .description('Run jobs on the bundled fake marketplaces, and check the results')
    .option('--distributed', 'use MongoDB and JetStream, with separate api and worker processes')
    .option('--keep', 'keep the service and the fake marketplaces running, and print a sign-in key')
    .option('--market <name>', 'run the jobs of one marketplace only');
  onRun(demo, async (io, { distributed, keep, market }) => {
    const { demo } = await import('../../tools/demo/demo.ts');
    return demo({
      distributed: distributed === true,
      keep: keep === true,
      dataDir: loadConfig(isolatedEnvironment(io.env), io.folder).dataDir,
      market,
      io,
    });
  });
  const dev = program
    .command('dev')
    .description(
      'Run everything on this machine with a new test key, for development against the sandbox',
    )
    .option('--data <folder>', 'folder for the data (default: a temporary one, deleted at the end)')
    .option('--port <port>', 'port of the REST API; 0 selects a free one (default: 8080)');
  onRun(dev, async (io, { data, port }: { data?: string; port?: string }) => {
    const { dev } = await import('../../tools/dev.ts');
    const dataDir = data === undefined ? null : io.path(data);
    await dev({ dataDir, port: integer('--port', port, 8080), io });
  });
  const engines = program
    // Works in a checkout only: `npm run engines`.
    .command('engines', { hidden: true })
    .description('Start a local MongoDB and NATS, and print their addresses');
  onRun(engines, async (io) => {
    const { runEngines } = await import('../../tools/engines.ts');
    await runEngines(io);
  });
  addMaintenanceCommands(program);
}

/**
 * Time after the start at which its garbage is collected: no request of the start waits for the
 * pause.
 */
const collectMs = 1_000;

/** Runs a role until it is stopped, or must not use its data any more. */
async function runRole(io: Io, role: ProcessRole): Promise<void> {
  io.becomeRole?.();
  const { serve } = await import('../../app/serve.ts');
  const config = io.config();
  const { logOutput, say } = io;
  // The SDK of OpenTelemetry reads its variables from the environment of the process, also those of
  // a `.env` file.
  Object.assign(io.env, openTelemetryVariables(config.environment));
  const service = await serve(config, role, {
    say,
    logOutput,
  });
  const collecting = setTimeout(() => {
    collectGarbage();
    limitHeapGrowth();
  }, collectMs);
  const refused = await Promise.race([untilAborted(io.signal), service.refused]);
  clearTimeout(collecting);
  await service.stop();
  if (refused) throw refused;
}

const openTelemetryVariables = (environment: Environment) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith('OTEL_')));
