import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { type Job, JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { JsonObject } from '../../base/json.ts';
import { GleanerError } from '../../client/index.ts';
import { summarizeProblems } from '../../contract/fault.ts';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { type Offer, offers, unitFields } from '../../contract/offers.ts';
import { addCommand } from './command.ts';
import { saveFiles } from './download.ts';
import { UsageError } from './exit.ts';
import { counted, jsonLine, table } from './print.ts';
import type { Session } from './session.ts';
import { aboutOffer, namesOf, offerAt, offerNamed } from './submit/offers.ts';
import { dryRunFlag, type OptionFlags, optionFlags, optionsOf } from './submit/options.ts';
import { showQuote } from './submit/quote.ts';
import { type Prepared, prepare } from './submit/request.ts';
import { type Format, formatOf, formats, parseContent } from './submit/rows.ts';
import { codeOfJobs, watchJobs } from './watch.ts';

interface SubmitFlags extends OptionFlags {
  format?: string;
  set?: string[];
  idempotencyKey?: string;
  dryRun?: true;
  wait?: true;
  download?: string;
}

/** Adds `submit` and `kinds`. */
export function addSubmitCommands(program: Command): void {
  addCommand<SubmitFlags>(program, {
    usage: 'submit <market> [kind] [file]',
    about: 'Submit a job from CSV, JSON, JSON Lines, or a list of URLs (- for standard input)',
    options: [
      ['--set <name=value...>', 'set a field of the request, or of a single unit (repeatable)'],
      ['--format <format>', `format of the file: ${formats.join(', ')}`],
      dryRunFlag,
      ...optionFlags,
      ['--idempotency-key <key>', 'repeated submits with this key create one job (default: a new key)'],
      ['--wait', 'wait until the job ends'],
      ['--download <folder>', 'wait, and download the result files to this folder'],
    ],
    async run(session, options, market: string, kind: string | undefined, file: string | undefined) {
      // With a REST path instead of market and kind, the second argument is the file.
      const isPath = market.startsWith('/');
      if (!isPath && kind === undefined)
        throw new UsageError(`Missing kind. List the kinds with \`gleaner kinds ${market}\`.`);
      const offer = isPath ? offerAt(market) : offerNamed(market, kind!);
      return submit(session, options, offer, isPath ? kind : file);
    },
  });
  addCommand(program, {
    usage: 'kinds [market]',
    about: 'List the kinds of jobs and their fields',
    async run(session, _options, market: string | undefined) {
      const shown = offers.filter((offer) => market === undefined || offer.market === market);
      if (shown.length === 0) throw new UsageError(`No market "${market}".`);
      if (session.isJson) {
        for (const offer of shown)
          await session.write(
            `${JSON.stringify({ market: offer.market, kind: offer.kind, path: offer.endpoint.path, fields: unitFields(offer).map(({ name }) => name), set: offer.options.map(({ name }) => name), about: aboutOffer(offer) })}\n`,
          );
        return;
      }
      await session.write(
        table<Offer>(
          [
            { name: 'MARKET', text: (offer) => offer.market },
            { name: 'KIND', text: (offer) => offer.kind },
            { name: 'FIELDS', text: fieldWords },
            { name: 'SET', text: (offer) => namesOf(offer.options) },
          ],
          shown,
        ),
      );
    },
  });
}

function fieldWords(offer: Offer): string {
  const fields = unitFields(offer);
  if (fields.length > 0) return namesOf(fields);
  return offer.units?.fieldKind === 'list' ? 'URLs, one per line' : 'a CSV file';
}

async function submit(
  session: Session,
  { format, set = [], idempotencyKey, dryRun, wait, download, ...flags }: SubmitFlags,
  offer: Offer,
  file: string | undefined,
): Promise<number | undefined> {
  const options = optionsOf(flags);
  const prepared = await prepareFrom(offer, file, format, set);
  // A request without a required field can be sent: the service then reports it with the problems that only it can find.
  if (prepared.problems.some(({ type }) => type !== 'missing')) {
    const detail = summarizeProblems(prepared.problems);
    throw withLines(new GleanerError({ status: 422, problems: prepared.problems, detail }), prepared);
  }
  if (prepared.ignored.length > 0)
    session.note(`warning: unknown fields ignored: ${prepared.ignored.join(', ')}`);
  const client = session.user();
  const failed = (error: unknown): never => {
    throw withLines(error, prepared);
  };
  if (dryRun) {
    const callOptions = { ...options, signal: session.signal };
    const quote = client.quote(offer.method, prepared.request, callOptions);
    return showQuote(session, await quote.catch(failed));
  }
  const { jobId, response } = await client
    .submit(offer.method, prepared.request, {
      ...options,
      signal: session.signal,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    .catch(failed);
  const shown: JsonObject = {
    job_id: jobId,
    ...(JSON.parse(messageWriter(offer.method.output)(response)) as JsonObject),
  };
  if (session.isJson) await session.write(`${JSON.stringify(shown)}\n`);
  else {
    const units = shown.total_items ?? shown.total_urls ?? shown.total ?? prepared.total ?? 1;
    session.note(
      `${counted(Number(units), 'unit')} submitted for ${counted(Number(shown.cost ?? 0), 'credit')}: ${shown.status}`,
    );
    await session.write(`${jobId}\n`);
  }
  if (!wait && download === undefined) return undefined;
  const ended = await watchJobs(session, client, [jobId]);
  if (download !== undefined && ended.every((job) => job.ended))
    await saveFiles(session, client, ended, download);
  if (session.isJson) for (const job of ended) await session.write(jsonLine(JobSchema, job as Job));
  return codeOfJobs(ended);
}

async function prepareFrom(
  offer: Offer,
  file: string | undefined,
  format: string | undefined,
  set: readonly string[],
): Promise<Prepared> {
  if (format !== undefined && !formats.includes(format as Format))
    throw new UsageError(`--format: "${format}" is not one of ${formats.join(', ')}`);
  if (file === undefined) {
    // Without a file, only a kind with a single unit can be complete; otherwise input is piped, or missing.
    if (offer.units === undefined && set.length > 0) return prepare(offer, null, set);
    if (process.stdin.isTTY) throw new UsageError('Missing file. Pass a path, or - for standard input.');
  }
  const isInput = file === undefined || file === '-';
  const name = isInput ? 'standard input' : file;
  const text = isInput ? await readAll(process.stdin) : readInput(file);
  if (text.trim() === '') throw new UsageError(`${name} is empty`);
  const content = parseContent(name, text, (format as Format | undefined) ?? formatOf(name, text));
  return prepare(offer, { name, text, content }, set);
}

function readInput(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${(error as Error).message}`);
  }
}

/** Adds the file's line numbers to the problems of an error. */
function withLines(error: unknown, { lineOf }: Prepared): unknown {
  if (!(error instanceof GleanerError) || error.problems.length === 0) return error;
  const problems = error.problems.map(({ loc, msg, type }) => {
    const line = typeof loc[2] === 'number' ? lineOf(loc[2]) : undefined;
    return { loc, type, msg: line === undefined ? msg : `${msg} (line ${line})` };
  });
  const { status, requestId } = error;
  const detail = summarizeProblems(problems);
  return new GleanerError({ status, problems, detail, ...(requestId === undefined ? {} : { requestId }) });
}
