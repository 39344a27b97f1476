import type { Schema } from '../../../gateway/openapi/schemas.ts';
import { Fault } from '../../contract/fault.ts';
import { quote } from '../../contract/problem-texts.ts';
import type { ToolArguments } from './call-tool.ts';
import type { MethodTool } from './tools.ts';

/** Name of the tool that calls the methods without a tool of their own. */
export const methodToolName = 'call_method';

/**
 * Methods with a tool of their own: those that an agent needs to submit product pages and read
 * their records.
 */
const listed: ReadonlySet<string> = new Set([
  'get_job',
  'list_jobs',
  'list_units',
  'list_faults',
  'cancel_job',
  'get_account',
  'get_price_list',
  'list_records',
  'list_fields',
  'list_changes',
  'get_history',
]);
const listedSubmit = /^submit_.*_(?:pdp_bulk|get_pc_bulk)$/;

/** Returns true if a method has a tool of its own. */
export const isListed = ({ name }: MethodTool): boolean =>
  listed.has(name) || listedSubmit.test(name);

const methodAdvice = [
  'Calls a method that has no tool of its own. Call it without arguments first:',
  "it then returns the description and the JSON Schema of the method's arguments.",
].join(' ');

/**
 * Returns the tool that calls the methods of `tools`, which are not listed themselves. Its schema
 * has their names, and its description their purposes.
 */
export function createMethodTool(tools: readonly MethodTool[]) {
  const purposes = tools.map(({ name, description }) => `- ${name}: ${firstSentence(description)}`);
  return {
    name: methodToolName,
    description: [methodAdvice, ...purposes].join('\n'),
    inputSchema: {
      type: 'object',
      properties: {
        method: { type: 'string', enum: tools.map(({ name }) => name) },
        arguments: {
          type: 'object',
          description: 'Arguments of the method; absent for its description and their schema.',
        },
      },
      required: ['method'],
    } satisfies Schema & { type: 'object' },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  };
}

/** The submits of a marketplace begin with the same sentence. */
const firstSentence = (description: string): string =>
  /^(?:Jobs on marketplace [A-Z]\. )?[^.]*\./.exec(description)?.[0] ?? description;

/**
 * Returns the method that a call names and its arguments, or the text that describes the method to
 * a call without arguments. Throws `invalid` for an unknown method or arguments that are no object.
 */
export function readMethodCall(
  { method, arguments: methodArguments, ...unknownArguments }: ToolArguments,
  tools: ReadonlyMap<string, MethodTool>,
): { tool: MethodTool; toolArguments: ToolArguments } | { text: string } {
  const [unknownName] = Object.keys(unknownArguments);
  if (unknownName !== undefined)
    throw Fault.invalid(
      ['arguments', unknownName],
      "Unknown argument: those of the method belong into 'arguments'",
      'extra_forbidden',
    );
  const tool = typeof method === 'string' ? tools.get(method) : undefined;
  if (tool === undefined)
    throw Fault.invalid(
      ['arguments', 'method'],
      `Input should be the name of a method, not ${quote(String(method))}`,
      'enum',
    );
  if (methodArguments === undefined || methodArguments === null)
    return { text: JSON.stringify({ description: tool.description, arguments: tool.inputSchema }) };
  if (typeof methodArguments !== 'object' || Array.isArray(methodArguments))
    throw Fault.invalid(
      ['arguments', 'arguments'],
      'Input should be an object',
      'model_attributes_type',
    );
  return { tool, toolArguments: methodArguments as ToolArguments };
}
