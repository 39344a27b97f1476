import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Command } from 'commander';
import {
  createGleanerClient,
  type GleanerClient,
  GleanerError,
} from '../../../clients/typescript/index.ts';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { loadOnce } from '../../base/on-demand.ts';
import { draftPath } from '../../base/replace-file.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { Io } from '../io.ts';
import { UsageError } from './exit.ts';
import { type Display, jsonLine, type PrintedColumn } from './print.ts';
import {
  type ClientSettings,
  modeWarning,
  readProfiles,
  type SettingFlags,
  type Source,
  settingsOf,
} from './profiles.ts';

/**
 * Key of a command's calls; `either`: the user's, or the operator's with --user or if there is no
 * other.
 */
export type Access = 'user' | 'operator' | 'either';

/** Options that all client commands have; `user` only those with access `either`. */
export interface CommonOptions extends SettingFlags {
  json?: true;
  user?: string;
}

/** Settings, client, and output of a command. */
export interface CommandSession extends Pick<Io, 'display' | 'note' | 'write'> {
  io: Io;
  /** Whether standard output is JSON only. */
  isJson: boolean;
  settings: ClientSettings;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Client of the command's key, whose calls Ctrl-C ends. Throws a UsageError without a key. */
  readonly client: GleanerClient;
  /** Whether the command's key is the operator's. */
  isOperator: boolean;
  /** User that --user names. Empty for all users, and without the option. */
  userId: string;
  /** Name of the place that the key is from: `GLEANER_API_KEY`. */
  keySource: string;
  /** Adds the source of the key to an error about the key. */
  explain(error: unknown): unknown;
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
    columns: readonly PrintedColumn<MessageShape<Desc>>[],
    none: string,
  ): Promise<void>;
}

/** Adds the common options: --json, --url, --key, --profile, and --user. */
export function common(command: Command, access: Access): Command {
  if (access === 'either')
    command.option(
      '--user <user-id>',
      'as an operator, for the data of this user, or of `all` users',
    );
  return command
    .option('--json', 'print JSON, or JSON Lines for lists')
    .option('--url <address>', 'URL of the service (GLEANER_URL)')
    .option(
      '--key <key>',
      'API key (GLEANER_API_KEY, or GLEANER_OPERATOR_KEY for operator commands)',
    )
    .option('--profile <name>', 'profile of the configuration file (GLEANER_PROFILE)');
}

/** Opens the session of a command, which Ctrl-C stops. */
export function openSession(io: Io, options: CommonOptions, access: Access): CommandSession {
  const environment = io.client();
  const warning = modeWarning(environment.configFile);
  if (warning !== null) io.note(warning);
  const settings = settingsOf(options, environment, readProfiles(environment.configFile));
  const { display, note, signal, write } = io;
  const { apiKey, operatorKey, url, profile } = settings;
  const isChosen =
    options.user !== undefined || (apiKey.value === null && operatorKey.value !== null);
  const isOperator = access === 'operator' || (access === 'either' && isChosen);
  const [key, what, variable] = isOperator
    ? ([operatorKey, "operator's key", 'GLEANER_OPERATOR_KEY'] as const)
    : ([apiKey, 'API key', 'GLEANER_API_KEY'] as const);
  const keySource = nameOf(key.from, variable, profile);
  let client: GleanerClient | undefined;
  const session: CommandSession = {
    io,
    display,
    isJson: options.json === true,
    settings,
    signal,
    get client() {
      if (!key.value)
        throw new UsageError(
          `No ${what} configured for ${url.value}. ` +
            `Pass --key, set ${variable}, or run \`gleaner config set\`.`,
        );
      client ??= createGleanerClient({
        url: url.value,
        apiKey: key.value,
        signal,
        fetch: clientFetch,
        onWarning: (text) => note(`warning: ${text}`),
      });
      return client;
    },
    isOperator,
    userId: options.user === undefined || options.user === 'all' ? '' : checkUserId(options.user),
    keySource,
    explain(error) {
      if (!(error instanceof GleanerError)) return error;
      // Every response of the API has the id of its request.
      if (error.status === 404 && error.requestId === undefined) {
        const detail = `${url.value} is not the address of Gleaner's API: ${error.detail}`;
        return Object.assign(error, { detail });
      }
      if (error.status === 0 && url.from === 'flag') {
        const detail = `${error.detail}. --url is the address of the service`;
        return Object.assign(error, { detail });
      }
      if (![401, 403].includes(error.status)) return error;
      const detail = `${error.detail.replace(/\.$/, '')} (${what} of ${keySource})`;
      return Object.assign(error, { detail });
    },
    write,
    note,
    show: (schema, message, words) =>
      write(session.isJson ? jsonLine(schema, message) : words(display)),
    async list(schema, messages, columns, none) {
      if (session.isJson) for (const message of messages) await write(jsonLine(schema, message));
      else if (messages.length === 0) note(none);
      else await write(display.table(columns, messages));
    },
  };
  return session;
}

/** Loads `fetch` of undici 8, with connections of its own: the global ones can be those of Node. */
const loadFetch = loadOnce(async (): Promise<typeof globalThis.fetch> => {
  const { Agent, fetch } = await import('undici');
  const dispatcher = new Agent();
  return ((input: string, init: object) =>
    fetch(input, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
});

/**
 * `fetch` of undici 8, loaded with the first request. The one of Node 24 throws where no caller can
 * catch it if a server closes the connection of a response faster than its body is read.
 */
export const clientFetch: typeof globalThis.fetch = async (input, init) => {
  const fetch = await loadFetch();
  return fetch(input, init);
};

/** Names the source of a setting. */
function nameOf(source: Source, variable: string, profile: string): string {
  if (source === 'flag') return '--key';
  if (source === 'environment') return variable;
  return source === 'profile' ? `the profile "${profile}"` : source;
}

/**
 * Writes a stream to standard output or a file. A file gets its final name when it is complete; a
 * device or a pipe is written to, not replaced.
 */
export async function writeStream(
  { io, signal, write }: CommandSession,
  stream: AsyncIterable<Uint8Array>,
  output: string | undefined,
): Promise<void> {
  if (output === undefined || output === '-') {
    for await (const chunk of stream) await write(chunk);
    return;
  }
  const path = io.path(output);
  const present = await stat(path).catch(() => undefined);
  const isFile = present === undefined || present.isFile();
  const draft = isFile ? draftPath(path) : path;
  try {
    const bytes = Readable.from(stream, { objectMode: false });
    await pipeline(bytes, createWriteStream(draft), { signal });
    if (isFile) await rename(draft, path);
  } catch (error) {
    if (isFile) await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Returns the job of a reference. Throws a UsageError for a job of another user than --user names.
 */
export async function findJob({ client, userId }: CommandSession, text: string): Promise<Job> {
  const job = await client.find(checkId(text));
  if (userId !== '' && job.userId !== userId)
    throw new UsageError(`--user: ${job.jobId} is not a job of the user ${userId}`);
  return job;
}

export async function findJobId(session: CommandSession, text: string): Promise<string> {
  const id = checkId(text);
  if (session.userId === '' && id.includes('-')) return id;
  return (await findJob(session, id)).jobId;
}

/** Checks that a schedule is of the user that --user names. Throws a UsageError. */
export async function checkSchedule(
  { client, userId }: CommandSession,
  scheduleId: string,
): Promise<void> {
  if (userId === '') return;
  const schedule = await client.call(ScheduleService.method.getSchedule, { scheduleId });
  if (schedule.userId !== userId)
    throw new UsageError(`--user: ${scheduleId} is not a schedule of the user ${userId}`);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the id of a user or an operator. Throws a UsageError for a name. */
export function checkUserId(text: string): string {
  if (uuid.test(text)) return text;
  throw new UsageError(
    `No user "${text}". ` +
      `Pass an id, which \`gleaner user list --search ${shellWord(text)}\` prints.`,
  );
}

/**
 * Parses a job reference: a UUID, a task number, or a path that ends with one. Throws a UsageError.
 */
function checkId(text: string): string {
  const id = text.startsWith('/') ? (text.split('/').at(-1) ?? '') : text;
  if (/^\d{1,18}$/.test(id) || uuid.test(id)) return id;
  throw new UsageError(`No job "${text}". Pass a job UUID or a task number.`);
}
