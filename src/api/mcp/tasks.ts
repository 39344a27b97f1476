import { create, type DescMethod } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type TaskStatus,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Job, JobSchema, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { type FaultCode, faultCodes } from '../../contract/fault.ts';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { showTimestamp } from '../../contract/json/values.ts';
import { takesSubmitOptions } from '../../contract/submit-options.ts';
import { content, describeError, jobIdOf, type ToolCaller } from './call-tool.ts';
import { readResults, resultsToolName } from './results.ts';

/*
 * The extension "Tasks" of the protocol version 2026-07-28: a submit returns a task instead of a
 * result, and the client polls it. A task is a job: its id is the job's, and its state follows from
 * the job's. So nothing is stored, any process answers, and a client that restarts finds its tasks
 * by their ids.
 */
const extension = 'io.modelcontextprotocol/tasks';

/** Capabilities of servers and clients with the extension. */
export const taskCapabilities = { extensions: { [extension]: {} } };

interface TaskOptions {
  caller: ToolCaller;
  now: () => number;
  onError: (error: unknown, tool: string) => void;
}

/**
 * Adds the methods of tasks to a server: the tasks are the caller's jobs. Returns a function for
 * the task of a submit, by the text of its response. It returns undefined for other methods and for
 * quotes, for a client without the extension, and if the job cannot be read: the response has its
 * id.
 */
export function addTasks(server: Server, options: TaskOptions) {
  const { caller, now, onError } = options;
  const call = (method: DescMethod, jobId: string, signal: AbortSignal) =>
    caller.call(method, create(method.input, { jobId } as never), {
      submitOptions: undefined,
      idempotencyKey: undefined,
      waitMs: 0,
      signal,
    });
  const { getJob, cancelJob } = JobService.method;
  const read = (jobId: string, signal: AbortSignal) => call(getJob, jobId, signal) as Promise<Job>;
  const cancel = ({ jobId }: Job, signal: AbortSignal) =>
    call(cancelJob, jobId, signal).catch((error) => {
      // The job has ended in the meantime.
      if (error.code !== 'conflict') throw error;
    });
  const runs: Record<string, (job: Job, context: ServerContext) => Promise<object>> = {
    'tasks/get': async (job, context) => {
      const task = toTask(job, now());
      if (task.status === 'input_required')
        return { ...task, inputRequests: inputRequests(job, context) };
      if (task.status !== 'completed') return task;
      return { ...task, result: await resultOf(job, options, context.mcpReq.signal) };
    },
    'tasks/update': async (job, { mcpReq: { inputResponses, signal } }) => {
      // A form that was declined or closed changes nothing.
      const isTicked = acceptedContent(inputResponses, inputKey)?.cancel === true;
      if (isTicked && statusOf(job) === 'input_required') await cancel(job, signal);
      return {};
    },
    'tasks/cancel': async (job, { mcpReq: { signal } }) => {
      if (!job.ended) await cancel(job, signal);
      return {};
    },
  };
  for (const [method, run] of Object.entries(runs))
    server.setRequestHandler(method, { params }, async ({ taskId }, context) => {
      if (!hasExtension(context))
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: taskCapabilities });
      try {
        return { ...(await run(await read(taskId, context.mcpReq.signal), context)) };
      } catch (error) {
        throw toProtocolError(error, (unexpected) => onError(unexpected, method));
      }
    });
  return async (method: DescMethod, text: string, context: ServerContext) => {
    if (!takesSubmitOptions(method) || !hasExtension(context)) return undefined;
    const jobId = jobIdOf(JSON.parse(text));
    if (jobId === undefined) return undefined;
    try {
      const task = toTask(await read(jobId, context.mcpReq.signal), now());
      // The SDK requires the contents of a result; clients with the extension ignore them.
      return { ...content(text), resultType: 'task', ...task };
    } catch (error) {
      describeError(error, (unexpected) => onError(unexpected, method.name));
      return undefined;
    }
  };
}

const params = z.object({ taskId: z.string().max(255) });

const capabilitiesOf = ({ mcpReq }: ServerContext): ClientCapabilities =>
  (mcpReq.envelope as Record<string, ClientCapabilities> | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ] ?? {};

const hasExtension = (context: ServerContext): boolean =>
  capabilitiesOf(context).extensions?.[extension] !== undefined;

/** Status of a task by the state of its job. Other states are `working`. */
const statuses: Readonly<Record<string, TaskStatus>> = {
  awaiting_approval: 'input_required',
  completed: 'completed',
  partial_complete: 'completed',
  // Tasks only fail by errors of the protocol: this result has `isError`.
  failed: 'completed',
  rejected: 'cancelled',
  terminated: 'cancelled',
};

const statusOf = ({ status }: Job): TaskStatus => statuses[status] ?? 'working';

/**
 * Limits of the suggested interval of polls, in milliseconds. Between them, it is a fifth of the
 * age.
 */
const minPollMs = 1_000;
const maxPollMs = 15 * 60_000;

/**
 * Returns the task of a job. It exists until the results of the job are deleted; `ttlMs` is null if
 * no deletion is planned.
 */
function toTask(job: Job, now: number) {
  const { jobId: taskId, startedAt, finishedAt, filesExpireAt } = job;
  const createdAt = job.createdAt!;
  const changedAt = finishedAt ?? startedAt ?? createdAt;
  return {
    taskId,
    status: statusOf(job),
    statusMessage: describe(job),
    createdAt: showTimestamp(createdAt),
    lastUpdatedAt: showTimestamp(changedAt),
    ttlMs: filesExpireAt === undefined ? null : timestampMs(filesExpireAt) - timestampMs(createdAt),
    pollIntervalMs: Math.round(
      Math.min(maxPollMs, Math.max(minPollMs, (now - timestampMs(changedAt)) / 5)),
    ),
  };
}

/** Returns the state of a job in a sentence, for the user and the model. */
function describe(job: Job): string {
  const { jobId, status, success, failed, total, reason, decideBy, waitingFor, ended } = job;
  const deadline = decideBy === undefined ? '' : ` until ${showTimestamp(decideBy)}`;
  if (status === 'awaiting_approval') return `Awaits the approval of an operator${deadline}.`;
  if (status === 'rejected') return `Rejected${reason === '' ? '.' : `: ${reason}`}`;
  if (status === 'terminated')
    return `Cancelled. ${success} of ${total} units have a result: read them with job_id ${jobId}.`;
  if (ended) return `${success} of ${total} units succeeded.`;
  const wait = waitingFor === '' ? '' : ` Waits for ${waitingFor}.`;
  return `${success + failed} of ${total} units have an outcome.${wait}`;
}

/**
 * Returns the result of an ended job: `get_job`, and the first page of `read_results` if it has
 * records.
 */
async function resultOf(
  job: Job,
  options: TaskOptions,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { content: parts } = content(messageWriter(JobSchema)(job));
  if (job.status === 'failed') return { content: parts, isError: true };
  if (job.filesDeletedAt !== undefined) return { content: parts };
  const records = await readResults({ job_id: job.jobId }, options.caller, signal).catch((error) =>
    describeError(error, (unexpected) => options.onError(unexpected, resultsToolName)),
  );
  return { content: [...parts, ...content(records).content] };
}

/**
 * Key of the request for input: the operator decides on the approval, and the user can cancel the
 * job.
 */
const inputKey = 'approval';

/**
 * Returns the requests of a job that awaits approval. Empty for a client that cannot show a form.
 */
function inputRequests(job: Job, context: ServerContext): InputRequests {
  const { elicitation } = capabilitiesOf(context);
  const hasForms =
    elicitation !== undefined && (elicitation.form !== undefined || !('url' in elicitation));
  if (!hasForms) return {};
  const cancel = {
    type: 'boolean',
    title: 'Cancel the job instead of waiting',
    default: false,
  } as const;
  return {
    [inputKey]: inputRequired.elicit({
      message:
        `Job ${job.jobId} costs ${job.cost} credits. ` +
        `${describe(job)} It starts once it is approved.`,
      requestedSchema: { type: 'object', properties: { cancel } },
    }),
  };
}

/**
 * Converts the error of a call to one of the protocol. Logs errors that the caller did not cause.
 */
function toProtocolError(error: unknown, report: (error: unknown) => void): ProtocolError {
  const { message, ...data } = JSON.parse(describeError(error, report));
  const isCallers = data.code !== 'internal' && faultCodes[data.code as FaultCode] === 'never';
  const { InvalidParams, InternalError } = ProtocolErrorCode;
  return new ProtocolError(isCallers ? InvalidParams : InternalError, message, data);
}
