import {
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { createGateway } from '../../../gateway/gateway.ts';
import { serveMcp } from '../../../src/api/rest/mcp.ts';
import { type RunningServer, startServer } from '../../../src/api/rest/server.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import { createBodyBudget } from '../../../src/contract/body-budget.ts';
import type { Caller } from '../../../src/contract/caller.ts';

/* Serves the tools that the conformance suite names over the service's own listener for the protocol. */

const image = {
  type: 'image' as const,
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  mimeType: 'image/png',
};
const text = (content: string) => ({ type: 'text' as const, text: content });
const resource = { uri: 'test://static-text', name: 'text', mimeType: 'text/plain' };
const embedded = {
  type: 'resource' as const,
  resource: { ...resource, text: 'The text of a resource.' },
};

/** Schema whose keywords tools/list must keep. */
const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

type Run = (context: ServerContext) => CallToolResult | Promise<CallToolResult>;

/** Reports 0, 50, and 100 of 100 to a caller that wants progress. */
async function reportProgress({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  for (const progress of progressToken === undefined ? [] : [0, 50, 100])
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress, total: 100 },
    });
  return { content: [text('Progress was reported.')] };
}

const runs: Readonly<Record<string, Run>> = {
  test_simple_text: () => ({ content: [text('This is a simple text response for testing.')] }),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({
    content: [{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' }],
  }),
  test_embedded_resource: () => ({ content: [embedded] }),
  test_multiple_content_types: () => ({ content: [text('Several types.'), image, embedded] }),
  test_logging_tool: () => ({ content: [text('Nothing was logged.')] }),
  test_streaming_elicitation: () => ({ content: [text('Nothing was asked.')] }),
  test_error_handling: () => ({ content: [text('This tool always fails.')], isError: true }),
  test_tool_with_progress: reportProgress,
  json_schema_2020_12_tool: () => ({ content: [text('Nothing.')] }),
  test_missing_capability: () => {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  },
};

const tools = Object.keys(runs).map(
  (name): Tool => ({
    name,
    description: 'A tool that the conformance suite calls.',
    inputSchema: name === 'json_schema_2020_12_tool' ? schema2020 : { type: 'object' },
  }),
);

/** Creates a server with the tools, a resource, and lists without prompts. */
function createTestServer(): Server {
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  const server = new Server({ name: 'conformance', version: '1' }, { capabilities });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', ({ params }, context) => runs[params.name]!(context));
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
  server.setRequestHandler('resources/list', () => ({ resources: [resource] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', () => ({ contents: [embedded.resource] }));
  return server;
}

/** Admits every caller, because the suite sends no key. */
const caller: Caller = {
  authenticate: async () => ({
    userId: 'conformance',
    call: () => Promise.reject(new Error('the tools of the suite call no method')),
    async *stream() {},
  }),
};

/** Starts the server at `/mcp` of a free port. */
export function startTestServer(): Promise<RunningServer> {
  const [log, budget] = [createLog('silent', 'conformance'), createBodyBudget()];
  const publicUrl = () => 'http://gleaner.test';
  const serving = {
    caller,
    budget,
    clock: systemClock,
    publicUrl,
    corsOrigins: [],
    version: '1',
    log,
  };
  const mounts = [serveMcp({ ...serving, createServer: createTestServer })];
  return startServer(createGateway({ services: [], caller, mounts }), 0, '127.0.0.1');
}
