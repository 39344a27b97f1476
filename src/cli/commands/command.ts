import type { Command } from 'commander';
import { UsageError } from './exit.ts';
import { type CommonOptions, common, inSession, type Session } from './session.ts';

/** A command as its file declares it. */
export interface CommandSpec<Options> {
  /** Name and arguments: `create <name>`. */
  usage: string;
  about: string;
  /** Flags and what they mean. */
  options?: readonly (readonly [flags: string, about: string])[];
  alias?: string;
  /** Does the work; a number is the exit code. */
  // biome-ignore lint/suspicious/noExplicitAny: arguments are texts or lists of them, as the usage says.
  run(session: Session, options: Options, ...values: any[]): Promise<unknown>;
}

/** Adds a command that works in a session. */
export function addCommand<Options = object>(parent: Command, spec: CommandSpec<Options>): Command {
  const command = parent.command(spec.usage).description(spec.about);
  if (spec.alias !== undefined) command.alias(spec.alias);
  for (const [flags, about] of spec.options ?? []) {
    if (flags.includes('...'))
      command.option(flags, about, (text: string, all: string[] = []) => [...all, text]);
    else command.option(flags, about);
  }
  common(command);
  return command.action(async (...parameters: unknown[]) => {
    // A command with subcommands takes the options that both know, such as --json, wherever they stand.
    const options = command.optsWithGlobals<Options & CommonOptions>();
    const values = parameters.slice(0, -2);
    const code = await inSession(options, (session) => spec.run(session, options, ...values));
    if (typeof code === 'number') process.exitCode = code;
  });
}

/** A whole number of an option or argument. Throws a UsageError that names it. */
export function integer(name: string, text: string | undefined, usual: number, least = 0): number {
  if (text === undefined) return usual;
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
    throw new UsageError(
      `${name}: expected a whole number${least > 0 ? ` from ${least} on` : ''}, not ${text}`,
    );
  return value;
}

/** Entries of pages up to a number; 0: all. */
export async function take<Page, Entry>(
  pages: AsyncIterable<Page>,
  entries: (page: Page) => readonly Entry[],
  most: number,
): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const page of pages) {
    found.push(...entries(page));
    if (most > 0 && found.length >= most) return found.slice(0, most);
  }
  return found;
}

/** Size of a page when so many entries are wanted. */
export const pageSize = (most: number): number => (most === 0 ? 1000 : Math.min(most, 1000));

/** What --limit of lists means. */
export const limitOption = [
  '--limit <n>',
  'at most so many, the newest first; 0: all (default: 50)',
] as const;
