import type { Command } from 'commander';
import { type Job, JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { JsonObject } from '../../base/json.ts';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { type Offer, offers, unitFields } from '../../contract/offers.ts';
import { addCommand } from './command.ts';
import { saveFiles } from './download.ts';
import { UsageError } from './exit.ts';
import { counted, jsonLine } from './print.ts';
import type { Session } from './session.ts';
import { aboutOffer, namesOf, offerAt, offerNamed } from './submit/offers.ts';
import { dryRunFlag, type OptionFlags, optionFlags, optionsOf } from './submit/options.ts';
import { showQuote } from './submit/quote.ts';
import { formats } from './submit/rows.ts';
import { prepareFrom, requireReadable, withLines } from './submit/source.ts';
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
        session.display.table<Offer>(
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
  const prepared = await prepareFrom(session.io, offer, { file, format, set });
  requireReadable(session, prepared);
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
