import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import type { Webhook } from '../store/documents.ts';

/** How long messages are signed with the secret before, too. */
export const rotationMs = 24 * 3_600_000;

/** A new secret: 32 random bytes. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Secrets that a webhook's messages are signed with at `now`, the newest first. */
export function secretsOf(webhook: Webhook, now: number): string[] {
  const { secret, previousSecret, previousUntil } = webhook;
  return previousSecret !== null && previousUntil !== null && now < previousUntil
    ? [secret, previousSecret]
    : [secret];
}

/** Headers that say which message it is and prove who sent it when (Standard Webhooks): a signature per secret. */
export function signed(id: string, body: string, secrets: readonly string[], now: number) {
  const at = new Date(now);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, at, body)).join(' '),
  };
}
