import { randomBytes } from 'node:crypto';
import { sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import { createSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';

/** Lifetime of a session in milliseconds. A session is not extended: the browser signs in again. */
const sessionMs = 7 * 24 * 60 * 60 * 1000;
/** Maximum sessions of an account. */
const maxSessions = 20;

/** A new session and its token, which is not stored. */
export interface CreatedSession {
  token: string;
  expiresAt: number;
}

/**
 * Creates a session that stands for the principal's API key and expires with it at the latest.
 * Throws `forbidden` for a principal that is a session itself, since sessions must end.
 */
export async function createBrowserSession(
  store: Pick<Store, 'apiKeys' | 'sessions'>,
  { userId, keyId, session }: { userId: string; keyId: string; session?: object },
  now: number,
): Promise<CreatedSession> {
  if (session !== undefined)
    throw new Fault('forbidden', 'Signing in needs an API key, not a session.');
  const key = (await store.apiKeys.find({ userId })).find(({ id }) => id === keyId);
  const expiresAt = Math.min(now + sessionMs, key?.expiresAt ?? Number.POSITIVE_INFINITY);
  const token = `gls_${randomBytes(32).toString('base64url')}`;
  await createSession(
    store,
    {
      hash: sha256(token),
      userId,
      keyId,
      createdAt: now,
      expiresAt,
    },
    maxSessions,
  );
  return { token, expiresAt };
}
