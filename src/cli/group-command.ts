import { Command, type ParseOptionsResult } from 'commander';
import { questionOf, suggest } from '../contract/suggest.ts';

/** A command that answers an unknown subcommand with those that could be meant. */
export class GroupCommand extends Command {
  override createCommand(name?: string): GroupCommand {
    return new GroupCommand(name);
  }

  /** Refuses an option as the value of the one before it, which commander would take. */
  override parseOptions(args: string[]): ParseOptionsResult {
    for (const [at, arg] of args.entries()) {
      if (arg === '--') break;
      const next = args[at + 1];
      const option = this.options.find(({ short, long }) => arg === short || arg === long);
      if (option?.required && next !== undefined && this.#isLongOption(next))
        this.error(`error: '${option.flags}' lacks its value: ${next} is another option`);
    }
    return super.parseOptions(args);
  }

  #isLongOption(arg: string): boolean {
    const [name] = arg.split('=');
    return this.options.some(({ long }) => long === name);
  }

  /** Called by commander, which would compare the names of this command's subcommands only. */
  unknownCommand(): never {
    const name = this.args[0]!;
    const path = [...pathOf(this), name].join(' ');
    const hints = [subcommandsText(this), alternativesText(this, name)].filter(Boolean);
    const text = [`error: unknown command '${path}'`, ...hints].join('. ');
    return this.error(text, { code: 'commander.unknownCommand' });
  }
}

/** Subcommands of a command that is not the program, or ''. */
function subcommandsText(command: Command): string {
  const path = pathOf(command);
  if (path.length === 0) return '';
  return `Commands of ${path.join(' ')}: ${namesOf(command).join(', ')}`;
}

/** Returns the question which command is meant; without one, the way to the list of all. */
function alternativesText(command: Command, name: string): string {
  const alike = suggest(name, namesOf(command));
  const paths =
    alike === undefined ? findCommands(command, name) : [[...pathOf(command), alike].join(' ')];
  if (paths.length > 0) return questionOf(paths.slice(0, maxPaths));
  return command.parent === null ? 'Run gleaner --help for the commands' : '';
}

/** Alternatives that a message names. */
const maxPaths = 4;

/**
 * Returns the paths of the commands with a name. If there are none and the name is not that of a
 * group's command, those whose description has it.
 */
function findCommands(command: Command, name: string): string[] {
  const leaves = leavesOf(rootOf(command));
  const named = leaves.filter((leaf) => leaf.name() === name);
  const found = named.length > 0 || command.parent !== null ? named : describedAs(leaves, name);
  return found.map((leaf) => pathOf(leaf).join(' '));
}

/** Returns the commands whose description has a word, in the singular or the plural. */
function describedAs(commands: readonly Command[], name: string): Command[] {
  const singular = name.toLowerCase().replace(/s$/, '');
  return commands.filter((command) =>
    command
      .description()
      .toLowerCase()
      .split(/[^a-z-]+/)
      .some((word) => word === singular || word === `${singular}s`),
  );
}

const leavesOf = (command: Command): Command[] =>
  command.commands.flatMap((each) => (each.commands.length === 0 ? [each] : leavesOf(each)));

/** Names of the subcommands that help lists. */
const namesOf = (command: Command): string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name())
    .filter((name) => name !== 'help');

/** Returns the names of a command and its parents without the program. */
function pathOf(command: Command): string[] {
  if (command.parent === null) return [];
  return [...pathOf(command.parent), command.name()];
}

function rootOf(command: Command): Command {
  if (command.parent === null) return command;
  return rootOf(command.parent);
}
