import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Command } from 'commander';
import { clientEnvironment } from '../../base/config.ts';
import { createGleanerClient, type GleanerClient } from '../../client/index.ts';
import { exitCodes, Interrupted, UsageError } from './exit.ts';
import { type Column, jsonLine, table } from './print.ts';
import { type ClientSettings, modeWarning, readProfiles, type SettingFlags, settingsOf } from './profiles.ts';

/** Options that every command of a client has. */
export interface CommonOptions extends SettingFlags {
  json?: true;
}

/** What a command works with. */
export interface Session {
  /** Whether nothing but JSON goes to standard output. */
  isJson: boolean;
  settings: ClientSettings;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Calls in the user's name. Throws a UsageError without a key. */
  user(): GleanerClient;
  /** Calls in the operator's name. Throws a UsageError without a key. */
  operator(): GleanerClient;
  /** Whether there is an operator's key, and no user's. */
  isOperatorOnly: boolean;
  /** Writes to standard output, and waits for a reader that is slow. */
  write(text: string | Uint8Array): Promise<void>;
  /** Tells people something, on standard error. */
  note(text: string): void;
  /** Shows one message: as JSON, or in words. */
  show<Desc extends DescMessage>(
    schema: Desc,
    message: MessageShape<Desc>,
    words: () => string,
  ): Promise<void>;
  /** Shows messages: as JSON Lines, or as a table; says `none` to people where there are none. */
  list<Desc extends DescMessage>(
    schema: Desc,
    messages: readonly MessageShape<Desc>[],
    columns: readonly Column<MessageShape<Desc>>[],
    none: string,
  ): Promise<void>;
}

/** Adds what every command of a client has: --json, --url, --key, --profile. */
export function common(command: Command): Command {
  return command
    .option('--json', 'print JSON, or JSON Lines, and nothing else')
    .option('--url <address>', 'where the service is (GLEANER_URL)')
    .option('--key <key>', 'API key (GLEANER_API_KEY, or GLEANER_OPERATOR_KEY for what operators do)')
    .option('--profile <name>', 'profile of the configuration file (GLEANER_PROFILE)');
}

/** Runs a command's work in a session; Ctrl-C aborts its signal. */
export async function inSession<Result>(
  options: CommonOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const environment = clientEnvironment();
  const warning = modeWarning(environment.configFile);
  if (warning !== null) note(warning);
  const settings = settingsOf(options, environment, readProfiles(environment.configFile));
  const stop = new AbortController();
  let stopped = 0;
  const interrupt = () => {
    // A launcher passes Ctrl-C on that the terminal has sent us, too: only a later one is a second one.
    if (!stop.signal.aborted) stopped = Date.now();
    else if (Date.now() - stopped > 500) process.exit(exitCodes.interrupted);
    stop.abort(new Interrupted('interrupted'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  return work(sessionOf(options, settings, stop.signal));
}

function sessionOf(options: CommonOptions, settings: ClientSettings, signal: AbortSignal): Session {
  const client = (key: string | null, what: string, variable: string) => {
    if (key === null)
      throw new UsageError(
        `there is no ${what}: give it as --key or ${variable}, or keep it by \`gleaner config set\``,
      );
    return createGleanerClient({ url: settings.url.value, apiKey: key });
  };
  const session: Session = {
    isJson: options.json === true,
    settings,
    signal,
    user: () => client(settings.apiKey.value, 'API key', 'GLEANER_API_KEY'),
    operator: () => client(settings.operatorKey.value, "operator's key", 'GLEANER_OPERATOR_KEY'),
    isOperatorOnly: settings.apiKey.value === null && settings.operatorKey.value !== null,
    write,
    note,
    show: (schema, message, words) => write(session.isJson ? jsonLine(schema, message) : words()),
    async list(schema, messages, columns, none) {
      if (session.isJson) for (const message of messages) await write(jsonLine(schema, message));
      else if (messages.length === 0) note(none);
      else await write(table(columns, messages));
    },
  };
  return session;
}

async function write(text: string | Uint8Array): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise((resolve) => process.stdout.once('drain', resolve));
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
