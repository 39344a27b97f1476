import type { Command } from 'commander';
import { onRun } from '../program.ts';
import { UsageError } from './exit.ts';
import { type CommonOptions, common, openSession, type Session } from './session.ts';

/** Declaration of a command. */
export interface CommandSpec<Options> {
  /** Name and arguments, for example `create <name>`. */
  usage: string;
  about: string;
  /** Flags and their descriptions. */
  options?: readonly (readonly [flags: string, about: string])[];
  alias?: string;
  /** Runs the command. May return an exit code. */
  // biome-ignore lint/suspicious/noExplicitAny: arguments are strings or lists of strings, depending on the usage.
  run(session: Session, options: Options, ...values: any[]): Promise<unknown>;
}

/** Adds a command that runs in a session. */
export function addCommand<Options = object>(parent: Command, spec: CommandSpec<Options>): Command {
  const command = parent.command(spec.usage).description(spec.about);
  if (spec.alias !== undefined) command.alias(spec.alias);
  for (const [flags, about] of spec.options ?? []) {
    if (flags.includes('...'))
      command.option(flags, about, (text: string, all: string[] = []) => [...all, text]);
    else command.option(flags, about);
  }
  common(command);
  return onRun(command, (io, options: Options & CommonOptions, ...values) =>
    spec.run(openSession(io, options), options, ...values),
  );
}

/** Parses a whole number, at least `min`. Throws a UsageError that names the option or argument. */
export function integer(name: string, text: string | undefined, fallback: number, min = 0): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < min)
    throw new UsageError(
      `${name}: "${text}" is not a whole number${min > Number.MIN_SAFE_INTEGER ? ` of at least ${min}` : ''}`,
    );
  return value;
}

/** Collects the entries of pages. `max` 0: all. */
export async function take<Page, Entry>(
  pages: AsyncIterable<Page>,
  entries: (page: Page) => readonly Entry[],
  max: number,
): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const page of pages) {
    found.push(...entries(page));
    if (max > 0 && found.length >= max) return found.slice(0, max);
  }
  return found;
}

/** Returns the page size for a number of entries. */
export const pageSize = (max: number): number => (max === 0 ? 1000 : Math.min(max, 1000));

/** The --limit option of lists. */
export const limitOption = ['--limit <n>', 'maximum number of entries; 0 lists all (default: 50)'] as const;
