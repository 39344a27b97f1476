import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import type { Webhook } from '../store/documents.ts';

/** Time after a rotation during which messages are also signed with the previous secret. */
const rotationMs = 24 * 3_600_000;

/** Creates a signing secret from 32 random bytes. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Maximum attempts at a change that conflicts with concurrent ones. */
const maxAttempts = 5;

/**
 * Sets the URL and state of a user's webhook. Keeps its secret, or creates one for a new webhook.
 */
export function setWebhook(
  context: Pick<JobContext, 'store' | 'clock'>,
  userId: string,
  { url, enabled }: Pick<Webhook, 'url' | 'enabled'>,
): Promise<Webhook> {
  const address = new URL(url);
  address.hash = '';
  const unset = {
    userId,
    secret: newSecret(),
    previousSecret: null,
    previousUntil: null,
  };
  return change(context, userId, (webhook) => ({
    ...(webhook ?? unset),
    url: address.href,
    enabled,
  }));
}

/**
 * Replaces the secret; the previous one keeps signing for a day. Throws `not_found` without a
 * webhook.
 */
export function rotateSecret(
  context: Pick<JobContext, 'store' | 'clock'>,
  userId: string,
): Promise<Webhook> {
  const secret = newSecret();
  return change(context, userId, (webhook) => {
    if (webhook === null) throw new Fault('not_found', 'There is no webhook.');
    return {
      ...webhook,
      secret,
      previousSecret: webhook.secret,
      previousUntil: context.clock.now() + rotationMs,
    };
  });
}

async function change(
  { store, clock }: Pick<JobContext, 'store' | 'clock'>,
  userId: string,
  update: (webhook: Webhook | null) => Omit<Webhook, 'updatedAt' | 'revision'>,
): Promise<Webhook> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const webhook = await store.webhooks.get(userId);
    const revision = (webhook?.revision ?? 0) + 1;
    const changed = { ...update(webhook), updatedAt: clock.now(), revision };
    if (await store.webhooks.put(changed)) return changed;
  }
  throw new Fault('conflict', 'The webhook was changed concurrently. Try again.');
}

/** Returns the secrets that sign a webhook's messages at `now`, newest first. */
export function secretsOf(webhook: Webhook, now: number): string[] {
  const { secret, previousSecret, previousUntil } = webhook;
  return previousSecret !== null && previousUntil !== null && now < previousUntil
    ? [secret, previousSecret]
    : [secret];
}

/**
 * Returns the headers of the Standard Webhooks specification: id, timestamp and one signature per
 * secret.
 */
export function signatureHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  now: number,
) {
  const at = new Date(now);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, at, body)).join(' '),
  };
}
