import { CommanderError } from 'commander';
import { packageVersion } from '../base/package-folder.ts';
import { errorLines, exitCodeOf, exitCodes } from './commands/exit.ts';
import { addServiceRoles } from './commands/service-roles.ts';
import { createIo, type Io, type RunOptions } from './io.ts';
import { CommandProgram } from './program.ts';

/**
 * Runs the command line, and returns the exit code. It reads and writes only what the options name,
 * so that any number of runs can share a process. Errors are written to standard error.
 */
export async function runCli(args: readonly string[], options: RunOptions): Promise<number> {
  const io = createIo(options);
  try {
    const program = await createProgram(io, args[0]);
    await program.parseAsync(args, { from: 'user' });
    return program.exitCode;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    for (const line of errorLines(error)) io.note(line);
    return exitCodeOf(error);
  }
}

/**
 * Creates the program with all commands; with those of the service only, to run one that does not
 * need the others.
 */
export async function createProgram(io: Io, name?: string): Promise<CommandProgram> {
  const program = configure(new CommandProgram(io));
  addServiceRoles(program);
  // Processes of the service do not load client commands.
  if (!program.commands.some((command) => command.name() === name)) await addOtherCommands(program);
  return program;
}

function configure(program: CommandProgram): CommandProgram {
  const { stdout, stderr } = program.io;
  return program
    .description('Self-hosted product-data collection service and its command line')
    .version(packageVersion)
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? defaultWidth,
      getErrHelpWidth: () => stderr.columns ?? defaultWidth,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
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
}

/** Width of help where the output is no terminal. */
const defaultWidth = 80;

async function addOtherCommands(program: CommandProgram): Promise<void> {
  const [page, { addClientCommands }, { addCompletion }] = await Promise.all([
    import('./commands/page.ts'),
    import('./commands/index.ts'),
    import('./commands/completion.ts'),
  ]);
  page.addPageCommands(program);
  addClientCommands(program);
  addCompletion(program);
}
