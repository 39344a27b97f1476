import type { Command } from 'commander';
import { GroupCommand } from './group-command.ts';
import type { Io } from './io.ts';

/** The root command of a run, with its streams. */
export class CommandProgram extends GroupCommand {
  readonly io: Io;
  /** Exit code of a run without an error. */
  exitCode = 0;

  constructor(io: Io) {
    super('gleaner');
    this.io = io;
  }
}

/**
 * Sets what a command does. `run` gets the streams, the arguments, and the options with those of
 * parent commands: a parent consumes the options that both have, such as --json. It may return an
 * exit code.
 */
export function onRun(
  command: Command,
  // biome-ignore lint/suspicious/noExplicitAny: options and arguments depend on the declaration of the command.
  run: (io: Io, options: any, ...values: any[]) => Promise<unknown>,
): Command {
  return command.action(async (...parameters: unknown[]) => {
    const program = rootOf(command);
    const code = await run(program.io, command.optsWithGlobals(), ...parameters.slice(0, -2));
    if (typeof code === 'number') program.exitCode = code;
  });
}

function rootOf(command: Command): CommandProgram {
  let root = command;
  while (root.parent !== null) root = root.parent;
  return root as CommandProgram;
}
