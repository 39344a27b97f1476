import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { loadDotEnv } from '../base/config.ts';
import { errorLines, exitCodeOf, exitCodes } from './commands/exit.ts';
import { addServiceRoles } from './commands/service-roles.ts';

const say = (line: string) => console.log(line);

// Exit silently when a reader closes the pipe (`gleaner jobs | head`).
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });

try {
  loadDotEnv();
} catch (error) {
  for (const line of errorLines(error)) console.error(line);
  process.exit(exitCodeOf(error));
}

const program = new Command('gleaner')
  .description('Self-hosted product-data collection service and its command line')
  .version(manifest.version)
  .configureOutput({
    outputError: (text, write) =>
      write(
        `${text
          .trim()
          .replace(/^error: /, 'gleaner: ')
          .replaceAll('\n', ' ')}\n`,
      ),
  })
  .showSuggestionAfterError()
  .exitOverride();

addServiceRoles(program, say);
// Processes of the service do not load client commands.
if (!program.commands.some((command) => command.name() === process.argv[2])) {
  const [{ addPageCommands }, { addClientCommands }, { addCompletion }] = await Promise.all([
    import('./commands/page.ts'),
    import('./commands/index.ts'),
    import('./commands/completion.ts'),
  ]);
  addPageCommands(program, say);
  addClientCommands(program);
  addCompletion(program);
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError)
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  else {
    for (const line of errorLines(error)) console.error(line);
    process.exitCode = exitCodeOf(error);
  }
}
