import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Command } from 'commander';
import { createGleanerClient, type GleanerClient } from '../../client/index.ts';
import type { Io } from '../io.ts';
import { UsageError } from './exit.ts';
import { type Column, type Display, jsonLine } from './print.ts';
import { type ClientSettings, modeWarning, readProfiles, type SettingFlags, settingsOf } from './profiles.ts';

/** Options that all client commands have. */
export interface CommonOptions extends SettingFlags {
  json?: true;
}

/** Settings, clients, and output of a command. */
export interface Session extends Pick<Io, 'display' | 'note' | 'write'> {
  io: Io;
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
  /** Shows one message as JSON or as text. */
  show<Desc extends DescMessage>(
    schema: Desc,
    message: MessageShape<Desc>,
    words: (display: Display) => string,
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

/** Opens the session of a command, which Ctrl-C stops. */
export function openSession(io: Io, options: CommonOptions): Session {
  const environment = io.client();
  const warning = modeWarning(environment.configFile);
  if (warning !== null) io.note(warning);
  const settings = settingsOf(options, environment, readProfiles(environment.configFile));
  const { display, note, signal, write } = io;
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
    io,
    display,
    isJson: options.json === true,
    settings,
    signal,
    user: () => client(settings.apiKey.value, 'API key', 'GLEANER_API_KEY'),
    operator: () => client(settings.operatorKey.value, "operator's key", 'GLEANER_OPERATOR_KEY'),
    isOperatorOnly: settings.apiKey.value === null && settings.operatorKey.value !== null,
    write,
    note,
    show: (schema, message, words) => write(session.isJson ? jsonLine(schema, message) : words(display)),
    async list(schema, messages, columns, none) {
      if (session.isJson) for (const message of messages) await write(jsonLine(schema, message));
      else if (messages.length === 0) note(none);
      else await write(display.table(columns, messages));
    },
  };
  return session;
}
