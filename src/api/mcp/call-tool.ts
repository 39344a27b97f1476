import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Fault, type Problem, summarizeProblems } from '../../contract/fault.ts';
import { messageReader } from '../../contract/json/message-reader.ts';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { createReadState, refused } from '../../contract/json/values.ts';
import { problemText } from '../../contract/problem-texts.ts';
import { readSubmitOptions } from '../../contract/read-submit-options.ts';
import { type SubmitOptions, takesSubmitOptions } from '../../contract/submit-options.ts';
import type { Budget } from './budget.ts';
import { extraArguments, type MethodTool, maxWaitSeconds } from './tools.ts';

/** Properties of a call besides its request. */
export interface CallProperties {
  submitOptions: SubmitOptions | undefined;
  idempotencyKey: string | undefined;
  waitMs: number;
  signal: AbortSignal;
  /** Called with the states of a job while GetJob waits for its end. */
  onProgress?: (job: Pick<Job, 'success' | 'failed' | 'total'>) => void;
}

/**
 * Calls to the service on behalf of one user. They throw a Fault, or an Error with a code and a
 * message.
 */
export interface ToolCaller {
  call(method: DescMethod, request: Message, properties: CallProperties): Promise<Message>;
  /** Streams the records of a job as JSON Lines. */
  results(jobId: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Returns the credits that a submitted job costs. */
  costOf(jobId: string, signal: AbortSignal): Promise<number>;
}

export type ToolArguments = Record<string, unknown>;

/** Returns the id of the job that a submit created, by its response; undefined for a quote. */
export function jobIdOf({
  job_id: jobId,
  task_id: taskId,
  job,
}: Record<string, unknown>): string | undefined {
  const id = jobId ?? taskId ?? (job as { job_id?: string } | undefined)?.job_id;
  return id === undefined ? undefined : String(id);
}

export const content = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** Reports the progress of a call: units with an outcome, of all units. */
export type ReportProgress = (progress: number, total: number) => void;

/** How a tool is called. */
export interface ToolCallOptions {
  caller: ToolCaller;
  budget: Budget;
  signal: AbortSignal;
  /** Reports progress. Absent if the client did not request it. */
  report?: ReportProgress | undefined;
}

/**
 * Calls the method of a tool and returns its response as JSON text. Throws a Fault `invalid` that
 * names each invalid argument.
 */
export async function callMethodTool(
  { method }: MethodTool,
  toolArguments: ToolArguments,
  { caller, budget, signal, report }: ToolCallOptions,
): Promise<string> {
  const isSubmit = takesSubmitOptions(method);
  const { request, options, problems } = readArguments(method, toolArguments);
  const waitMs = readWait(toolArguments[extraArguments.wait], problems);
  const idempotencyKey = readKey(toolArguments[extraArguments.idempotencyKey], problems);
  if (problems.length > 0) throw new Fault('invalid', 'The arguments are not valid.', { problems });
  const isWatched = report !== undefined && waitMs > 0 && method === JobService.method.getJob;
  const properties = {
    submitOptions: options,
    idempotencyKey,
    waitMs,
    signal,
    ...(isWatched ? { onProgress: progressOf(report) } : {}),
  };
  const call = async (submitOptions: SubmitOptions | undefined) =>
    messageWriter(method.output)(
      await caller.call(method, request, { ...properties, submitOptions }),
    );
  if (!isSubmit) return bounded(await call(undefined), method);
  const submit = async (submitOptions: SubmitOptions | undefined) => {
    const text = await call(submitOptions);
    return { text, cost: () => caller.costOf(String(jobIdOf(JSON.parse(text))), signal) };
  };
  return budget.spend({ options, idempotencyKey, submit });
}

/** Returns a listener that reports each increase of a job's units with an outcome. */
function progressOf(report: ReportProgress): CallProperties['onProgress'] & {} {
  let reported = -1;
  return ({ success, failed, total }) => {
    if (success + failed <= reported) return;
    reported = success + failed;
    report(reported, total);
  };
}

/** Maximum bytes of a response, which must fit into the context of a model. */
const maxResponseBytes = 100_000;

/** Arguments that make a response smaller. */
const reducing = ['page_size', 'column'];

/**
 * Returns a response that fits into the context of a model. Throws `page_too_large` for a larger
 * one; the message names the arguments that reduce it.
 */
function bounded(text: string, method: DescMethod): string {
  const bytes = Buffer.byteLength(text);
  const ways = method.input.fields
    .filter(({ name }) => reducing.includes(name))
    .map(({ name }) => name);
  if (bytes <= maxResponseBytes || ways.length === 0) return text;
  throw new Fault(
    'page_too_large',
    `The response has ${bytes} bytes, more than the ${maxResponseBytes} of a tool. ` +
      `Request less with ${ways.join(' and ')}.`,
  );
}

/** Reads the request and the options of a submit from the arguments. */
function readArguments(method: DescMethod, toolArguments: ToolArguments) {
  const own = new Set<string>(Object.values(extraArguments));
  const problems: Problem[] = [];
  let options: SubmitOptions | undefined;
  if (takesSubmitOptions(method)) {
    const read = readSubmitOptions(
      ({ name }) => {
        own.add(name);
        const value = toolArguments[name];
        return value === undefined || value === null ? undefined : String(value);
      },
      ({ name }) => ['arguments', name],
    );
    options = read.options;
    problems.push(...read.problems);
  }
  const members = Object.fromEntries(
    Object.entries(toolArguments).filter(([name]) => !own.has(name)),
  );
  const state = createReadState(['arguments'], { isStrict: true });
  const request = messageReader(method.input)(members, state);
  problems.push(
    ...state.problems.map((problem) =>
      problem.type === 'extra_forbidden' ? { ...problem, msg: 'Unknown argument' } : problem,
    ),
  );
  if (request === refused && problems.length === 0)
    problems.push({ loc: ['arguments'], ...problemText.notObject() });
  return { request: request as Message, options, problems };
}

function readWait(value: unknown, problems: Problem[]): number {
  if (value === undefined || value === null) return 0;
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxWaitSeconds)
    return (value as number) * 1000;
  const msg = `Value must be an integer from 0 to ${maxWaitSeconds}`;
  problems.push({ loc: ['arguments', extraArguments.wait], msg, type: 'value_error' });
  return 0;
}

function readKey(value: unknown, problems: Problem[]): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)) return value;
  const msg = 'Value must be 1 to 255 visible ASCII characters';
  problems.push({ loc: ['arguments', extraArguments.idempotencyKey], msg, type: 'value_error' });
  return undefined;
}

/**
 * Returns an error as JSON text with its code, message, problems, and quota, for the model to act
 * on. Reports internal errors.
 */
export function describeError(error: unknown, report: (error: unknown) => void): string {
  const { code, message, problems = [], quota, retryAfterMs } = error as Partial<Fault> & Error;
  if (typeof code !== 'string') {
    report(error);
    return JSON.stringify({ code: 'internal', message: 'Internal error' });
  }
  // The service locates problems in its own request, such as in the path.
  const argumentProblems = problems.map((problem) => ({
    ...problem,
    loc: ['arguments', ...problem.loc.slice(1)],
  }));
  const hasProblems = problems.length > 0;
  const ownMessage = error instanceof Fault ? error.clientMessage : message;
  return JSON.stringify({
    code,
    message: hasProblems ? summarizeProblems(argumentProblems) : ownMessage,
    problems: hasProblems ? argumentProblems : undefined,
    quota,
    retry_after_seconds: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000),
  });
}
