import { GleanerError } from '../../../clients/typescript/index.ts';
import { summarizeProblems } from '../../../contract/fault.ts';
import type { JobType } from '../../../contract/job-types.ts';
import type { Io } from '../../io.ts';
import { UsageError } from '../exit.ts';
import type { CommandSession } from '../session.ts';
import { type Prepared, prepare } from './request.ts';
import { formatOf, formats, parseContent, type UnitFileFormat } from './rows.ts';

/** Reads a request from a file, standard input, or settings. Throws a UsageError. */
export async function prepareFrom(
  io: Io,
  jobType: JobType,
  { file, format, set }: { file: string | undefined; format: string | undefined; set: readonly string[] },
): Promise<Prepared> {
  if (format !== undefined && !formats.includes(format as UnitFileFormat))
    throw new UsageError(`--format: "${format}" is not one of ${formats.join(', ')}`);
  if (file === undefined) {
    // Without a file, only a kind with a single unit can be complete; otherwise input is piped, or missing.
    if (jobType.units === undefined && set.length > 0) return prepare(jobType, null, set);
    if (io.stdin.isTTY) throw new UsageError('Missing file. Pass a path, or - for standard input.');
  }
  const isInput = file === undefined || file === '-';
  const name = isInput ? 'standard input' : file;
  const text = await io.readText(isInput ? '-' : file).catch((error: Error) => {
    throw new UsageError(`Cannot read ${name}: ${error.message}`);
  });
  if (text.trim() === '') throw new UsageError(`${name} is empty`);
  const content = parseContent(name, text, (format as UnitFileFormat | undefined) ?? formatOf(name, text));
  return prepare(jobType, { name, text, content }, set);
}

/**
 * Throws the error of a request that cannot represent its values; notes its unknown fields. A request without
 * a required field can be sent: the service then reports it with the problems that only it can find.
 */
export function requireReadable(session: CommandSession, prepared: Prepared): void {
  const { problems, ignored } = prepared;
  if (problems.some(({ type }) => type !== 'missing')) {
    const detail = summarizeProblems(problems);
    throw withLines(new GleanerError({ status: 422, problems, detail }), prepared);
  }
  if (ignored.length > 0) session.note(`warning: unknown fields ignored: ${ignored.join(', ')}`);
}

/** Adds the file's line numbers to the problems of an error. */
export function withLines(error: unknown, { lineOf }: Prepared): unknown {
  if (!(error instanceof GleanerError) || error.problems.length === 0) return error;
  const problems = error.problems.map(({ loc, msg, type }) => {
    const unit = loc.find((step) => typeof step === 'number');
    const line = unit === undefined ? undefined : lineOf(unit);
    return { loc, type, msg: line === undefined ? msg : `${msg} (line ${line})` };
  });
  const { status, requestId } = error;
  const detail = summarizeProblems(problems);
  return new GleanerError({ status, problems, detail, ...(requestId === undefined ? {} : { requestId }) });
}
