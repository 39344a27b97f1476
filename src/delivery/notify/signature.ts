import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import type { Webhook } from '../../store/documents.ts';

/** Time after a rotation during which messages are also signed with the previous secret. */
export const rotationMs = 24 * 3_600_000;

/** Creates a signing secret from 32 random bytes. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Returns the secrets that sign a webhook's messages at `now`, newest first. */
export function secretsOf(webhook: Webhook, now: number): string[] {
  const { secret, previousSecret, previousUntil } = webhook;
  return previousSecret !== null && previousUntil !== null && now < previousUntil
    ? [secret, previousSecret]
    : [secret];
}

/** Returns the headers of the Standard Webhooks specification: id, timestamp and one signature per secret. */
export function signatureHeaders(id: string, body: string, secrets: readonly string[], now: number) {
  const at = new Date(now);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, at, body)).join(' '),
  };
}
