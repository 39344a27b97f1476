import { Command, InvalidArgumentError } from 'commander';
import { ConfigError, loadConfig } from '../base/config.ts';
import { Fault } from '../base/fault.ts';
import { runAudit } from './audit.ts';
import { addClientCommands } from './client-commands.ts';
import { demo } from './demo/demo.ts';
import { runEngines } from './engines.ts';
import { recoverOperatorKey } from './operator-key.ts';
import { addPageCommands } from './page.ts';
import { type Role, serve } from './serve.ts';
import { untilStopped } from './stop.ts';

const roles: Record<Role, string> = {
  serve: 'run everything in one process',
  api: 'run gateway and core; needs MONGODB_URI and NATS_URL',
  core: 'run the core alone; needs MONGODB_URI and NATS_URL',
  gateway: 'run the gateway in front of a remote core (GLEANER_CORE_URL)',
  worker: 'run a worker; needs MONGODB_URI and NATS_URL',
};

const say = (line: string) => console.log(line);

const program = new Command('gleaner')
  .description('Self-hosted product-data scraping service')
  .showHelpAfterError();

for (const [role, description] of Object.entries(roles)) {
  program
    .command(role)
    .description(description)
    .action(async () => {
      const service = await serve(loadConfig(), role as Role, say);
      await untilStopped();
      await service.stop();
    });
}
program
  .command('demo')
  .description('run real jobs on the bundled fake marketplaces, and check the results')
  .option('--distributed', 'on MongoDB and JetStream, with separate api and worker processes')
  .action(async ({ distributed }) => {
    process.exitCode = await demo({ distributed: distributed === true, say });
  });
program
  .command('engines')
  .description('start a local MongoDB and NATS until stopped, and print their addresses')
  .action(() => runEngines(say));
program
  .command('audit')
  .description('prove that balances, ledger and jobs agree; exits 1 where they do not')
  .option('--json', 'print JSON')
  .action(async ({ json }) => {
    process.exitCode = await runAudit(loadConfig(), json === true, say);
  });
program
  .command('operator-key')
  .description('make a further key of the first operator, with direct access to the store')
  .action(async () => say(await recoverOperatorKey(loadConfig())));
addPageCommands(program, say);

try {
  // Reads the settings, and so may refuse them.
  addClientCommands(program, say);
  await program.parseAsync();
} catch (error) {
  if (error instanceof InvalidArgumentError) throw error;
  const fault = Fault.from(error);
  console.error(
    error instanceof ConfigError || fault.code !== 'internal' ? `gleaner: ${fault.message}` : fault.stack,
  );
  process.exitCode = error instanceof ConfigError ? 2 : 1;
}
