import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Command } from 'commander';
import { clientEnvironment } from '../../base/config.ts';
import { createGleanerClient, type GleanerClient } from '../../client/index.ts';
import { exitCodes, Interrupted, UsageError } from './exit.ts';
import { type Column, jsonLine, table } from './print.ts';
import { type ClientSettings, modeWarning, readProfiles, type SettingFlags, settingsOf } from './profiles.ts';

/** Options that all client commands have. */
export interface CommonOptions extends SettingFlags {
  json?: true;
}

/** Settings, clients, and output of a command. */
export interface Session {
  /** Whether standard output is JSON only. */
  isJson: boolean;
  settings: ClientSettings;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Returns a client with the user's key. Throws a UsageError without one. */
  user(): GleanerClient;
  /** Returns a client with the operator's key. Throws a UsageError without one. */
  operator(): GleanerClient;
  /** Whether only an operator's key is configured. */
  isOperatorOnly: boolean;
  /** Writes to standard output, and waits for a slow reader. */
  write(text: string | Uint8Array): Promise<void>;
  /** Writes a line for people to standard error. */
  note(text: string): void;
  /** Shows one message as JSON or as text. */
  show<Desc extends DescMessage>(
    schema: Desc,
    message: MessageShape<Desc>,
    words: () => string,
  ): Promise<void>;
  /** Shows messages as JSON Lines or as a table. Notes `none` if there are no messages. */
  list<Desc extends DescMessage>(
    schema: Desc,
    messages: readonly MessageShape<Desc>[],
    columns: readonly Column<MessageShape<Desc>>[],
    none: string,
  ): Promise<void>;
}

/** Adds the common options: --json, --url, --key, and --profile. */
export function common(command: Command): Command {
  return command
    .option('--json', 'print JSON, or JSON Lines for lists')
    .option('--url <address>', 'URL of the service (GLEANER_URL)')
    .option('--key <key>', 'API key (GLEANER_API_KEY, or GLEANER_OPERATOR_KEY for operator commands)')
    .option('--profile <name>', 'profile of the configuration file (GLEANER_PROFILE)');
}

/** Runs a command in a session. Ctrl-C aborts its signal. */
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
    // A launcher forwards the Ctrl-C that the terminal also sends here: only a later one is a second one.
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
        `No ${what} configured for ${settings.url.value}. Pass --key, set ${variable}, or run \`gleaner config set\`.`,
      );
    return createGleanerClient({
      url: settings.url.value,
      apiKey: key,
      onWarning: (text) => note(`warning: ${text}`),
    });
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
