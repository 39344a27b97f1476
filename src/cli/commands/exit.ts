import { GleanerError } from '../../../clients/typescript/index.ts';
import { ConfigError } from '../../base/config.ts';
import { DataRefusedError } from '../../base/data-refused-error.ts';
import { Fault } from '../../contract/fault.ts';
import { plain } from './print.ts';

/** Exit codes of the command line (docs/cli.md). */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notAuthorised: 3,
  notFound: 4,
  creditsShort: 5,
  conflict: 6,
  endedWithFailures: 7,
  serviceAway: 8,
  notEnded: 9,
  newerData: 10,
  interrupted: 130,
} as const;

/** An invalid command line: a wrong option, an unreadable file, or a missing key. */
export class UsageError extends Error {}

/** Ctrl-C. */
export class Interrupted extends Error {}

const statuses: Readonly<Record<number, number>> = {
  0: exitCodes.serviceAway,
  400: exitCodes.usage,
  401: exitCodes.notAuthorised,
  402: exitCodes.creditsShort,
  403: exitCodes.notAuthorised,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  413: exitCodes.usage,
  415: exitCodes.usage,
  422: exitCodes.usage,
  429: exitCodes.serviceAway,
  502: exitCodes.serviceAway,
  503: exitCodes.serviceAway,
};

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof ConfigError) return exitCodes.usage;
  if (error instanceof DataRefusedError) return exitCodes.newerData;
  if (error instanceof Fault && error.code === 'invalid') return exitCodes.usage;
  if (isPathError(error)) return exitCodes.usage;
  if (error instanceof Interrupted) return exitCodes.interrupted;
  return error instanceof GleanerError
    ? (statuses[error.status] ?? exitCodes.failed)
    : exitCodes.failed;
}

const pathCodes = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'EROFS']);

/** Returns true for an error of the file system that another path avoids. */
function isPathError(error: unknown): boolean {
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  // Sockets and programs fail with the same codes. Reading a folder does not name it.
  return (
    pathCodes.has(code ?? '') &&
    (code === 'EISDIR' ||
      (path !== undefined && /^(?:open|access|mkdir|rename|stat|scandir)$/.test(syscall ?? '')))
  );
}

/** Names metadata of a submission as the option of the command: "--hold: …". */
const withFlag = (text: string) => text.replace(/^gleaner-(?=[a-z-]+:)/, '--');

/** Formats an error for standard error: one line, or a heading and one line per problem. */
export function errorLines(error: unknown): string[] {
  if (error instanceof Interrupted) return [];
  if (
    error instanceof UsageError ||
    error instanceof ConfigError ||
    error instanceof DataRefusedError
  )
    return [`gleaner: ${error.message}`];
  if (error instanceof GleanerError) {
    const { problems, requestId, status } = error;
    if (problems.length > 1)
      return [
        `gleaner: the request has ${problems.length} problems`,
        ...problems.map(({ loc, msg }) => {
          const text = `${loc.slice(1).join('.') || loc[0]}: ${msg}`;
          return `  ${plain(withFlag(text))}`;
        }),
      ];
    const found = requestId === undefined || status < 500 ? '' : ` (request ${requestId})`;
    return [`gleaner: ${plain(withFlag(error.detail.replace(/\.$/, '')))}${found}`];
  }
  // File system errors are not bugs. Other unexpected errors are, and need their stack.
  if (typeof (error as { syscall?: unknown }).syscall === 'string')
    return [`gleaner: ${(error as Error).message}`];
  const fault = Fault.from(error);
  return [
    fault.code === 'internal'
      ? `gleaner: ${(fault.cause as Error)?.stack ?? fault.stack}`
      : `gleaner: ${fault.message}`,
  ];
}
