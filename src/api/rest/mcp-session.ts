import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { CallContext, Caller, Headers, Session } from '../../../gateway/service-client.ts';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { Fault } from '../../contract/fault.ts';

/*
 * A session with a budget stands for an API key of its own, whose credit ceiling is the budget. The charge of
 * a job checks the ceiling in the step that changes the balance (docs/access.md), so neither concurrent
 * submits nor a crash exceed it, whichever process answers. The session's id is that key, encrypted with the
 * key of the caller: a process needs no state, and the id is worth nothing without the caller's key.
 */

/** Header with the id of a session, in requests and in the response to `initialize`. */
export const sessionHeader = 'mcp-session-id';

/** Lifetime of a session in milliseconds. */
const sessionMs = 7 * 24 * 60 * 60 * 1000;

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** The API key of a session. */
interface SessionKey {
  keyId: string;
  apiKey: string;
}

/** Access to the sessions of one caller. */
export interface McpSessions {
  /**
   * Starts a session whose jobs may cost `budget` credits together. Returns its id. Throws the faults of
   * CreateApiKey.
   */
  start(budget: number): Promise<string>;
  /**
   * Returns the calls of a session. Throws `not_found` for an unknown or ended session, and for another key's
   * session.
   */
  open(id: string): Promise<Session>;
  /** Ends a session. Throws `not_found` as for open(). */
  end(id: string): Promise<void>;
}

/** Options of mcpSessions(). */
export interface McpSessionsOptions {
  caller: Caller;
  /** Headers of the request, with the caller's credentials. */
  headers: Headers;
  session: Session;
  context: CallContext;
  now: number;
}

/** Returns the MCP sessions of the request's caller. */
export function mcpSessions({ caller, headers, session, context, now }: McpSessionsOptions): McpSessions {
  const secret = headers.authorization ?? '';
  const { createApiKey, revokeApiKey } = AccountService.method;
  const keyOf = (id: string): SessionKey => {
    const text = open(id, secret);
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
      return seal(JSON.stringify({ keyId, apiKey } satisfies SessionKey), secret);
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
      await session.call(revokeApiKey, create(revokeApiKey.input, { keyId: keyOf(id).keyId }), context);
    },
  };
}

const unknownSession = () =>
  new Fault('not_found', 'The session has ended, or was started with another API key. Start another one.');

const keyFrom = (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', 'gleaner agent session', 32));

/** Encrypts a text with a secret, as visible ASCII characters. */
function seal(text: string, secret: string): string {
  const iv = randomBytes(ivBytes);
  const encryption = createCipheriv(cipher, keyFrom(secret), iv);
  const data = [iv, encryption.update(text, 'utf8'), encryption.final(), encryption.getAuthTag()];
  return Buffer.concat(data).toString('base64url');
}

/** Decrypts a text. Returns null if it was encrypted with another secret, or changed. */
function open(sealed: string, secret: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < ivBytes + tagBytes) return null;
  const decryption = createDecipheriv(cipher, keyFrom(secret), bytes.subarray(0, ivBytes));
  decryption.setAuthTag(bytes.subarray(-tagBytes));
  try {
    const text = decryption.update(bytes.subarray(ivBytes, -tagBytes));
    return Buffer.concat([text, decryption.final()]).toString('utf8');
  } catch {
    return null;
  }
}
