import { createReadStream } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import type { Command } from 'commander';
import pino from 'pino';
import { readableLog } from '../../base/log.ts';
import { linesOf } from '../../base/read-lines.ts';
import { addCommand } from './command.ts';
import { UsageError } from './exit.ts';
import { plain } from './print.ts';
import type { CommandSession } from './session.ts';

interface LogsFlags {
  level?: string;
  request?: string;
  job?: string;
}

export function addLogsCommand(program: Command): void {
  addCommand<LogsFlags>(program, {
    usage: 'logs [file]',
    about:
      "Format the service's log for reading, from a file or standard input (--json: filter only)",
    options: [
      [
        '--level <level>',
        'minimum level: trace, debug, info, warn, error, or fatal (default: all)',
      ],
      ['--request <id>', 'lines of one request (X-Request-ID)'],
      ['--job <id>', 'lines of one job'],
    ],
    async run(session, flags, file: string | undefined) {
      const isWanted = filterOf(flags);
      const { io } = session;
      const input = await openLog(io, file);
      const { prettyFactory } = await import('pino-pretty');
      const format = prettyFactory(readableLog(io.stdout.isTTY === true));
      session.signal.addEventListener('abort', () => input.destroy(session.signal.reason), {
        once: true,
      });
      const print = (entry: Entry | null, line: string): string => {
        if (session.isJson) return entry === null ? '' : `${line}\n`;
        return entry === null ? `${plain(line)}\n` : format(entry as never);
      };
      for await (const text of linesOf(input)) {
        const line = text.replace(/\r$/, '');
        const entry = parseEntry(line);
        // Other output of a service, such as its start message, has no level.
        if (isWanted(entry)) await session.write(print(entry, line));
      }
    },
  });
}

/** Opens a log file, or standard input for `-` and without a file. */
async function openLog(io: CommandSession['io'], file: string | undefined) {
  if (file !== undefined && file !== '-') {
    await access(io.path(file), constants.R_OK);
    return createReadStream(io.path(file));
  }
  if (io.stdin.isTTY)
    throw new UsageError(
      'Missing log. Pass a file, or pipe it: journalctl -u gleaner -o cat -f | gleaner logs',
    );
  return io.stdin;
}

/** Log line of the service. */
type Entry = Readonly<Record<string, unknown>>;

function parseEntry(line: string): Entry | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'level' in value
      ? (value as Entry)
      : null;
  } catch {
    return null;
  }
}

function filterOf({ level, request, job }: LogsFlags): (entry: Entry | null) => boolean {
  const { values } = pino.levels;
  const least = level === undefined ? 0 : values[level];
  if (least === undefined)
    throw new UsageError(`--level: "${level}" is not one of ${Object.keys(values).join(', ')}`);
  const isFiltered = level !== undefined || request !== undefined || job !== undefined;
  return (entry) => {
    if (entry === null) return !isFiltered;
    return (
      Number(entry.level) >= least &&
      (request === undefined || entry.requestId === request) &&
      (job === undefined || entry.jobId === job)
    );
  };
}
