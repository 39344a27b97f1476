import { type CallToolResult, Server, type ServerContext } from '@modelcontextprotocol/server';
import { Fault } from '../../contract/fault.ts';
import type { Budget } from './budget.ts';
import {
  callMethodTool,
  content,
  describeError,
  type ReportProgress,
  type ToolArguments,
  type ToolCaller,
} from './call-tool.ts';
import { createMethodTool, isListed, methodToolName, readMethodCall } from './method-tool.ts';
import { readResults, resultsTool, resultsToolName } from './results.ts';
import { addTasks, taskCapabilities } from './tasks.ts';
import { type MethodTool, methodTools } from './tools.ts';

export interface McpServerOptions {
  caller: ToolCaller;
  budget: Budget;
  version: string;
  /** Versions of the protocol that the client speaks: tasks need a modern one, 2026-07-28. */
  era: 'legacy' | 'modern';
  /** Returns the time in milliseconds. */
  now: () => number;
  /** Called for internal errors. */
  onError?: (error: unknown, tool: string) => void;
}

/** Instructions for the model of a client. */
const instructions = [
  'Gleaner collects product data from online marketplaces.',
  'Submit a job with a submit_… tool, or with call_method for searches and shops,',
  'wait for it with get_job and wait_seconds, and read its records:',
  'list_records has titles and prices, with filters and sorting,',
  'and read_results the complete records.',
  'A job costs credits per unit, and failed units are refunded:',
  'ask for a quote with validate_only=true first.',
  'get_price_list has the prices and limits, get_account the balance,',
  'and max_credits limits the cost of a job.',
  'Jobs in the status awaiting_approval start once an operator approves them,',
  'which can take hours: tell the user.',
  'list_faults says why units failed.',
].join(' ');

let allTools: ReturnType<typeof methodTools> | undefined;

/** Returns the tools by name: with a budget, only those that it limits. They are built once. */
function toolsByName(isLimited: boolean) {
  allTools ??= methodTools();
  const offered = allTools.filter(({ spendsLater }) => !isLimited || !spendsLater);
  return new Map(offered.map((tool) => [tool.name, tool]));
}

/** Creates a server of the Model Context Protocol with the tools of one caller. */
export function createMcpServer(options: McpServerOptions): Server {
  const { caller, budget, version, era, onError = () => {} } = options;
  const tools = toolsByName(budget.isLimited);
  const listedTools = [...tools.values()].filter(isListed);
  const unlistedTools = [...tools.values()].filter((tool) => !isListed(tool));
  const hasTasks = era === 'modern';
  const capabilities = { tools: {}, ...(hasTasks ? taskCapabilities : {}) };
  const server = new Server({ name: 'gleaner', version }, { capabilities, instructions });
  const taskOf = hasTasks ? addTasks(server, { ...options, onError }) : undefined;
  server.setRequestHandler('tools/list', () => ({
    tools: [
      ...listedTools.map(describeTool),
      { ...resultsTool, annotations: { readOnlyHint: true } },
      createMethodTool(unlistedTools),
    ],
  }));
  server.setRequestHandler('tools/call', async ({ params }, context): Promise<CallToolResult> => {
    const { name } = params;
    let toolArguments: ToolArguments = params.arguments ?? {};
    const { signal } = context.mcpReq;
    let tool = tools.get(name);
    try {
      if (name === resultsToolName)
        return content(await readResults(toolArguments, caller, signal));
      if (name === methodToolName) {
        const methodCall = readMethodCall(toolArguments, tools);
        if ('text' in methodCall) return content(methodCall.text);
        ({ tool, toolArguments } = methodCall);
      }
      if (tool === undefined) throw new Fault('not_found', `There is no tool '${name}'.`);
      const report = reporterOf(context);
      const text = await callMethodTool(tool, toolArguments, {
        caller,
        budget,
        signal,
        report,
      });
      return (await taskOf?.(tool.method, text, context)) ?? content(text);
    } catch (error) {
      return {
        ...content(describeError(error, (unexpected) => onError(unexpected, name))),
        isError: true,
      };
    }
  });
  return server;
}

/** Returns a tool as clients list it. */
const describeTool = ({
  name,
  description,
  inputSchema,
  isReadOnly,
  isDestructive,
}: MethodTool) => ({
  name,
  description,
  inputSchema,
  annotations: {
    readOnlyHint: isReadOnly,
    destructiveHint: isDestructive,
    openWorldHint: !isReadOnly,
  },
});

/**
 * Returns the function that reports the progress of a call, or undefined if the client did not
 * request it.
 */
function reporterOf({ mcpReq }: ServerContext): ReportProgress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, total) => {
    const params = { progressToken, progress, total };
    // A client that has gone receives neither this nor the result.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
