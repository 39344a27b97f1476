import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Exchange } from '../../../gateway/request-context.ts';
import { writeBody } from '../../../gateway/response/write-body.ts';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { deriveKey, seal, unseal } from '../../base/sealing.ts';
import { checkJsonSize } from '../../contract/body-content.ts';
import { smallBodyBytes } from '../../contract/body-limit.ts';
import type { CallContext, Caller, Headers, Session } from '../../contract/caller.ts';
import { Fault } from '../../contract/fault.ts';

/** Maximum bytes of a message. Larger submits use the REST API. */
export const maxMessageBytes = 4 * 1024 * 1024;

/**
 * Maximum members of the objects that the protocol's code copies: a message, its parameters, and
 * their objects.
 */
const maxMembers = 100;

/**
 * Reads a body of one JSON-RPC message. `requireLarge` is called before more than 64 KB are read,
 * and rejects if the caller may not send them. Throws `malformed`, `too_large`.
 */
export async function readMessage(
  request: IncomingMessage,
  requireLarge: () => Promise<void>,
): Promise<object> {
  if (request.headers['content-encoding'] !== undefined)
    throw new Fault('malformed', 'Messages must be sent without Content-Encoding.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (bytes <= smallBodyBytes && bytes + chunk.length > smallBodyBytes) await requireLarge();
    bytes += chunk.length;
    if (bytes > maxMessageBytes)
      throw new Fault('too_large', `The message has more than ${maxMessageBytes} bytes.`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (bytes > smallBodyBytes) {
    // Large bodies are parsed one by one, with other work between them.
    await setImmediate();
    checkJsonSize(body);
  }
  let message: unknown;
  try {
    message = JSON.parse(body.toString('utf8'));
  } catch {
    throw new Fault('malformed', 'The body is not valid JSON.');
  }
  // A batch would be many calls that the rate limit counts as one.
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    throw new Fault('malformed', 'The body must be one JSON-RPC message.');
  checkMembers(message, 3);
  return message;
}

/**
 * Throws `too_large` if an object, or an object in it down to some levels, has too many members.
 */
function checkMembers(value: unknown, levels: number): void {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const members = Object.keys(value);
  if (members.length > maxMembers)
    throw new Fault('too_large', `An object of the message has more than ${maxMembers} members.`);
  for (const name of members) checkMembers((value as Record<string, unknown>)[name], levels - 1);
}

/** Returns the headers that the protocol uses. Credentials stay here. */
export function protocolHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && /^(?:accept|content-type|mcp-.+)$/.test(entry[0]),
    ),
  );
}

/** Sends the result of the protocol's handler. */
export async function sendResult(exchange: Exchange, result: Response): Promise<void> {
  const { response } = exchange;
  response.statusCode = result.status;
  for (const [name, value] of result.headers) response.setHeader(name, value);
  response.setHeader('cache-control', 'no-store');
  if (result.body === null) response.end();
  else await writeBody(exchange, result.body);
}

/*
 * A session with a budget stands for an API key of its own, whose credit ceiling is the budget. The
 * charge of a job checks the ceiling in the step that changes the balance (docs/access.md), so
 * neither concurrent submits nor a crash exceed it, whichever process answers. The session's id is
 * that key, encrypted with the key of the caller: a process needs no state, and the id is worth
 * nothing without the caller's key.
 */

/** Header with the id of a session, in requests and in the response to `initialize`. */
export const sessionHeader = 'mcp-session-id';

/** Lifetime of a session in milliseconds. */
const sessionMs = 7 * 24 * 60 * 60 * 1000;

interface SessionKey {
  keyId: string;
  apiKey: string;
}

/** Access to the sessions of one caller. */
export interface McpSessions {
  /**
   * Starts a session whose jobs may cost `budget` credits together. Returns its id. Throws the
   * faults of CreateApiKey.
   */
  start(budget: number): Promise<string>;
  /**
   * Returns the calls of a session. Throws `not_found` for an unknown or ended session, and for
   * another key's session.
   */
  open(id: string): Promise<Session>;
  /** Ends a session. Throws `not_found` as for open(). */
  end(id: string): Promise<void>;
}

export interface McpSessionsOptions {
  caller: Caller;
  /** Headers of the request, with the caller's credentials. */
  headers: Headers;
  session: Session;
  context: CallContext;
  now: number;
}

/** Returns the MCP sessions of the request's caller. */
export function mcpSessions({
  caller,
  headers,
  session,
  context,
  now,
}: McpSessionsOptions): McpSessions {
  const key = deriveKey(headers.authorization ?? '', 'gleaner agent session');
  const { createApiKey, revokeApiKey } = AccountService.method;
  const keyOf = (id: string): SessionKey => {
    const text = unseal(id, key);
    if (text === null) throw unknownSession();
    return JSON.parse(text) as SessionKey;
  };
  return {
    async start(budget) {
      const request = create(createApiKey.input, {
        name: `Agent session (budget ${budget})`,
        creditCeiling: BigInt(budget),
        expiresAt: timestampFromMs(now + sessionMs),
      });
      const { keyId, apiKey } = await session.call(createApiKey, request, context);
      return seal(JSON.stringify({ keyId, apiKey } satisfies SessionKey), key);
    },
    async open(id) {
      const { apiKey } = keyOf(id);
      try {
        return await caller.authenticate({ ...headers, authorization: `Bearer ${apiKey}` });
      } catch (error) {
        throw Fault.from(error).code === 'unauthenticated' ? unknownSession() : error;
      }
    },
    async end(id) {
      await session.call(
        revokeApiKey,
        create(revokeApiKey.input, { keyId: keyOf(id).keyId }),
        context,
      );
    },
  };
}

const unknownSession = () =>
  new Fault(
    'not_found',
    'The session has ended, or was started with another API key. Start another one.',
  );
