import { Fault } from '../../contract/fault.ts';
import type { JobContext } from '../../jobs/context.ts';
import type { Webhook } from '../../store/documents.ts';
import { newSecret, rotationMs } from './signature.ts';

/** Maximum attempts at a change that conflicts with concurrent ones. */
const maxAttempts = 5;

/** Sets the URL and state of a user's webhook. Keeps its secret, or creates one for a new webhook. */
export function setWebhook(
  context: Pick<JobContext, 'store' | 'clock'>,
  userId: string,
  { url, enabled }: Pick<Webhook, 'url' | 'enabled'>,
): Promise<Webhook> {
  const address = new URL(url);
  address.hash = '';
  const unset = { userId, secret: newSecret(), previousSecret: null, previousUntil: null };
  return change(context, userId, (webhook) => ({ ...(webhook ?? unset), url: address.href, enabled }));
}

/** Replaces the secret; the previous one keeps signing for a day. Throws `not_found` without a webhook. */
export function rotateSecret(context: Pick<JobContext, 'store' | 'clock'>, userId: string): Promise<Webhook> {
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
