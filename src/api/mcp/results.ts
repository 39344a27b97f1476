import type { Schema } from '../../../gateway/openapi/schemas.ts';
import { Fault } from '../../contract/fault.ts';
import type { ToolArguments, ToolCaller } from './call-tool.ts';

/** Name of the tool that reads records. */
export const resultsToolName = 'read_results';

/**
 * Maximum records and bytes of a page, which must fit into the context of a model. One record is
 * returned however large it is, up to `maxRecordBytes`.
 */
const maxRecords = 100;
const maxPageBytes = 60_000;
const maxRecordBytes = 2_000_000;

export const resultsTool = {
  name: resultsToolName,
  description: [
    "Reads a job's complete records, which can be large, page by page,",
    'in the order submitted, also while the job runs.',
    'Each record has the index of its unit,',
    'and for listings the result file instead of its contents.',
    'Continue with next_offset until it is null.',
    'For titles and prices, use list_records.',
  ].join(' '),
  inputSchema: {
    type: 'object',
    properties: {
      job_id: { type: 'string', description: 'The job.' },
      offset: { type: 'integer', minimum: 0, default: 0, description: 'Records to skip.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: maxRecords,
        default: 20,
        description: 'Maximum records of the page, which is shorter if the records are large.',
      },
    },
    required: ['job_id'],
  } satisfies Schema & { type: 'object' },
};

/** Reads a page of records. Returns it as JSON text: `{"records": […], "next_offset": 20}`. */
export async function readResults(
  toolArguments: ToolArguments,
  caller: ToolCaller,
  signal: AbortSignal,
): Promise<string> {
  const jobId = toolArguments.job_id;
  if (typeof jobId !== 'string')
    throw Fault.invalid(['arguments', 'job_id'], 'Input should be a string', 'string_type');
  const offset = integer(toolArguments, 'offset', 0, 0, Number.MAX_SAFE_INTEGER);
  const limit = integer(toolArguments, 'limit', 20, 1, maxRecords);
  const stop = new AbortController();
  const records: string[] = [];
  let [index, bytes, hasMore] = [0, 0, false];
  try {
    for await (const line of linesOf(
      caller.results(jobId, AbortSignal.any([signal, stop.signal])),
    )) {
      if (index++ < offset) continue;
      if (records.length === limit || (records.length > 0 && bytes + line.length > maxPageBytes)) {
        hasMore = true;
        break;
      }
      records.push(line);
      bytes += line.length;
    }
  } finally {
    stop.abort(new Error('the page is complete'));
  }
  const next = hasMore ? offset + records.length : null;
  return `{"records":[${records.join(',')}],"next_offset":${next}}`;
}

function integer(
  toolArguments: ToolArguments,
  name: string,
  fallback: number,
  min: number,
  max: number,
): number {
  const value = toolArguments[name] ?? fallback;
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max)
    return value as number;
  throw Fault.invalid(
    ['arguments', name],
    `Value must be an integer from ${min} to ${max}`,
    'value_error',
  );
}

/**
 * Splits a stream into its lines. Throws a Fault `page_too_large` for a line that exceeds the limit
 * of a record.
 */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    text = lines.pop()!;
    yield* lines.filter((line) => line !== '');
    if (text.length > maxRecordBytes)
      throw new Fault(
        'page_too_large',
        `A record has more than ${maxRecordBytes} bytes. Download the file of the job.`,
      );
  }
  if (text !== '') yield text;
}
