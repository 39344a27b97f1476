import { createHash } from 'node:crypto';
import type { GleanerClient } from '../../clients/typescript/index.ts';
import { JobService, type ResultFile, type Unit } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { KnownJob, Problems } from './account.ts';
import type { ServedLog } from './served.ts';
import type { FileEntry } from './works.ts';

/** Context of checkResults(). */
export interface ResultContext {
  client: GleanerClient;
  served: ServedLog;
  problems: Problems;
  /**
   * Number of failed units by fault code, except for missing items and units stopped by a client.
   */
  failures: Map<string, number>;
}

/** Codes of units that fail without an injected fault. */
const expectedCodes = ['page_not_found', 'terminated', 'rejected', 'work_abandoned'];

/** Reads every unit of a job. */
export async function listUnits(client: GleanerClient, jobId: string): Promise<Unit[]> {
  const units: Unit[] = [];
  for await (const page of client.pages(JobService.method.listUnits, { jobId, pageSize: 1_000 }))
    units.push(...page.units);
  return units;
}

/**
 * Compares the units, the streamed results, and the result files of an ended job with the submitted
 * subjects and the pages that the origins served. Each subject must occur once, in order, with its
 * own record.
 */
export async function checkResults(context: ResultContext, known: KnownJob): Promise<void> {
  const { client, problems } = context;
  const { jobId, submission, subjects } = known;
  const { work } = submission;
  const units = await listUnits(client, jobId);
  const found = units.map(({ input }) => work.formatSubject(JSON.parse(input)));
  compare(problems, `units of job ${jobId}`, found, subjects);
  for (const { index, status, code } of units) {
    if (status === 'PENDING')
      problems.add('lost', `unit ${index} of ended job ${jobId} is pending`);
    checkAbandoned(problems, known, { subject: found[index]!, status, code });
    if (status === 'FAILED' && !expectedCodes.includes(code))
      context.failures.set(code, (context.failures.get(code) ?? 0) + 1);
  }
  const done = found.filter((_, at) => units[at]!.status === 'SUCCESS');
  if (done.length !== known.job!.success)
    problems.add(
      'other',
      `job ${jobId} counts ${known.job!.success} successes, its units ${done.length}`,
    );

  await checkStream(context, known, done);
  const files = await client.files(jobId);
  if (work.file === 'none') return;
  const scope = work.file === 'units' ? 'unit' : 'job';
  const entries: FileEntry[] = [];
  for (const file of files.filter((each) => each.scope === scope))
    entries.push(...work.entriesOf(await readFile(context, jobId, file)));
  // A job without successes has no file.
  if (done.length === 0 && entries.length === 0) return;
  const expected = work.file === 'all' ? subjects : done;
  const listed = entries.map(({ subject }) => subject);
  compare(problems, `files of job ${jobId}`, listed, expected);
  const successes = entries.filter(({ facts }) => facts !== null);
  compare(
    problems,
    `records in files of job ${jobId}`,
    successes.map(({ subject }) => subject),
    done,
  );
  for (const { subject, facts } of successes) checkFacts(context, jobId, subject, facts!);
}

/** Checks that only a poisonous page was abandoned, and that its unit did not succeed. */
function checkAbandoned(
  problems: Problems,
  { jobId, submission: { work } }: KnownJob,
  { subject, status, code }: { subject: string; status: string; code: string },
): void {
  const isPoisonous = subject === work.poison;
  if (isPoisonous && status === 'SUCCESS')
    problems.add(
      'other',
      `job ${jobId}: the page of ${subject} kills its reader, and its unit succeeded`,
    );
  if (!isPoisonous && code === 'work_abandoned')
    problems.add(
      'lost',
      `job ${jobId}: the unit of ${subject} was abandoned, and its page is not poisonous`,
    );
}

async function checkStream(
  context: ResultContext,
  { jobId, submission: { work } }: KnownJob,
  done: readonly string[],
): Promise<void> {
  const stream = await context.client.stream(JobService.method.streamResults, { jobId });
  const streamed: string[] = [];
  for await (const line of stream.lines()) {
    if (line === '') continue;
    const { input, record } = JSON.parse(line);
    const subject = work.formatSubject(input);
    streamed.push(subject);
    if (record !== undefined) checkFacts(context, jobId, subject, work.factsOf(record));
  }
  compare(context.problems, `results of job ${jobId}`, streamed, done);
}

async function readFile(
  { client, problems }: ResultContext,
  jobId: string,
  file: ResultFile,
): Promise<Buffer> {
  const response = await client.open(file.downloadUrl);
  const bytes = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== file.sha256)
    problems.add(
      'other',
      `file ${file.name} of job ${jobId}: ${bytes.length} bytes of another SHA-256`,
    );
  return bytes;
}

function checkFacts(
  { served, problems }: ResultContext,
  jobId: string,
  subject: string,
  facts: string[],
): void {
  const expected = served.facts(subject);
  if (facts.join('\n') !== expected.join('\n'))
    problems.add(
      'other',
      `job ${jobId}: the record of ${subject} is not what the origin served: ${facts.slice(0, 3)}, served ${expected.slice(0, 3)}`,
    );
}

function compare(
  problems: Problems,
  what: string,
  found: readonly string[],
  expected: readonly string[],
): void {
  const distinct = new Set(found);
  const expectedSubjects = new Set(expected);
  const missing = expected.filter((subject) => !distinct.has(subject));
  const duplicates = found.length - distinct.size;
  const unexpected = [...distinct].filter((subject) => !expectedSubjects.has(subject));
  if (missing.length > 0)
    problems.add('lost', `${what}: ${missing.length} missing, such as ${missing[0]}`);
  if (duplicates > 0) problems.add('duplicated', `${what}: ${duplicates} duplicates`);
  if (unexpected.length > 0) problems.add('other', `${what}: unexpected ${unexpected[0]}`);
  if (missing.length + duplicates + unexpected.length === 0 && found.join() !== expected.join())
    problems.add('other', `${what}: not in the order submitted`);
}
