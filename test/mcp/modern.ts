/* Client of the protocol version 2026-07-28 with the extension "Tasks", which the official client lacks. */

/** Extension "Tasks" of the protocol. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Capabilities of a client with the extension, and of one that can show forms, too. */
export const withTasks = { extensions: { [tasksExtension]: {} } };
export const withForms = { ...withTasks, elicitation: {} };

/** Response to a message: a result, or the error of the protocol. */
export interface ModernResponse {
  // biome-ignore lint/suspicious/noExplicitAny: results of every shape.
  result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  error?: { code: number; message: string; data?: any };
}

const protocolVersion = '2026-07-28';

/** Returns a message of a client with the capabilities. */
export function modernMessage(
  method: string,
  params: Record<string, unknown>,
  clientCapabilities: object = withTasks,
): string {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': protocolVersion,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
  };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
}

/** Sends one message to `/mcp` of a service and returns the response. */
export async function sendModern(
  url: string,
  key: string,
  method: string,
  params: Record<string, unknown>,
  clientCapabilities?: object,
): Promise<ModernResponse> {
  const name = params.name ?? params.taskId;
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    body: modernMessage(method, params, clientCapabilities),
  });
  const text = await response.text();
  // A response is JSON, or the only event of a stream.
  return JSON.parse(text.startsWith('{') ? text : /^data: (.*)$/m.exec(text)![1]!);
}
