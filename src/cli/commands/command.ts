import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import { isCalendarDay } from '../../contract/json/values.ts';
import { onRun } from '../program.ts';
import { UsageError } from './exit.ts';
import {
  type Access,
  type CommandSession,
  type CommonOptions,
  common,
  openSession,
} from './session.ts';

/** Declaration of options: flags and their descriptions. `<value...>` is a repeatable option. */
export type OptionList = readonly (readonly [flags: string, about: string])[];

export interface CommandSpec<Options> {
  /** Name and arguments, for example `create <name>`. */
  usage: string;
  about: string;
  options?: OptionList;
  /** Key of the command's calls. Default: the user's. */
  as?: Access;
  /** Runs the command. May return an exit code. */
  // biome-ignore lint/suspicious/noExplicitAny: arguments are strings or lists of strings, depending on the usage.
  run(session: CommandSession, options: Options, ...values: any[]): Promise<unknown>;
}

/** Adds a command that runs in a session. */
export function addCommand<Options = object>(parent: Command, spec: CommandSpec<Options>): Command {
  const { usage, about, options = [], as = 'user' } = spec;
  const command = parent.command(usage).description(about);
  for (const [flags, text] of options) {
    // Repeatable, but not greedy: the argument after the value is not another value.
    if (flags.includes('...'))
      command.option(flags.replace('...', ''), text, (value: string, all: string[] = []) => [
        ...all,
        value,
      ]);
    else command.option(flags, text);
  }
  common(command, as);
  return onRun(command, async (io, options: Options & CommonOptions, ...values) => {
    const session = openSession(io, options, as);
    try {
      return await spec.run(session, options, ...values);
    } catch (error) {
      throw session.explain(error);
    }
  });
}

/** Parses a whole number, at least `min`. Throws a UsageError that names the option or argument. */
export function integer(name: string, text: string | undefined, fallback: number, min = 0): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < min) {
    const least = min > Number.MIN_SAFE_INTEGER ? ` of at least ${min}` : '';
    throw new UsageError(`${name}: "${text}" is not a whole number${least}`);
  }
  return value;
}

/**
 * Parses a time. Throws a UsageError that names the option and `form`, the expected form of the
 * text.
 */
export function timeOf(option: string, text: string, form: string): Timestamp {
  const ms = Date.parse(text);
  const isDay = !/^\d{4}-\d\d-\d\d/.test(text) || isCalendarDay(text);
  if (Number.isNaN(ms) || !isDay) throw new UsageError(`${option}: "${text}" is not ${form}`);
  return timestampFromMs(ms);
}

export const outputOption = [
  '-o, --output <file>',
  'write to a file instead of standard output',
] as const;

export const limitOption = [
  '--limit <n>',
  'maximum number of entries; 0 lists all (default: 50)',
] as const;
