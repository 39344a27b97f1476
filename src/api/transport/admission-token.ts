import { createHmac } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { sameText } from '../../base/sealing.ts';
import type { LinkSecrets } from '../../links/secrets.ts';

/**
 * Metadata of the GetSession call with which a gateway checks the key of a caller. GetSession
 * checks the rate limit without counting, because the call that follows is counted. The value names
 * the following method, which the key must allow. It is signed: otherwise any client could use it
 * to bypass the rate limit. On any other call, the value names the method of the call itself, and
 * the rate limit ignores the call, because it is part of a submit that waits.
 */
export const admissionMetadata = 'gleaner-admission';

/**
 * Signs the admission of callers for the core, and verifies it. Gateways and cores share the
 * secrets of links.
 */
export interface AdmissionTokens {
  /**
   * Returns the token of an Authorization header for a method, by its full name, or '' for a check
   * of the key only.
   */
  sign(authorization: string | undefined, method: string): string;
  /**
   * Returns the method of a token, or null if it is not signed for this Authorization header, or
   * not recent.
   */
  verify(token: string, authorization: string | null): string | null;
}

/** Validity of a token before and after the time of this process's clock, in milliseconds. */
const validMs = 60_000;

/** Creates the signer: HMAC-SHA-256 over the Authorization header, the method, and the time. */
export function createAdmissionTokens({
  secrets,
  clock,
}: {
  secrets: LinkSecrets;
  clock: Pick<Clock, 'now'>;
}): AdmissionTokens {
  return {
    sign(authorization = '', method) {
      const at = String(clock.now());
      return `${method};${at};${signature(secrets.newest(), authorization, method, at)}`;
    },
    verify(token, authorization) {
      const [method = '', at = '', tokenSignature = '', ...rest] = token.split(';');
      if (rest.length > 0 || !/^\d{1,15}$/.test(at) || Math.abs(clock.now() - Number(at)) > validMs)
        return null;
      const isSigned = (secret: string) =>
        sameText(signature(secret, authorization ?? '', method, at), tokenSignature);
      return secrets.all().some(isSigned) ? method : null;
    },
  };
}

function signature(secret: string, authorization: string, method: string, at: string): string {
  const parts = JSON.stringify(['admission', authorization, method, at]);
  return createHmac('sha256', secret).update(parts).digest('base64url');
}
