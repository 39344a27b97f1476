import { Fault } from '../base/fault.ts';
import type { Webhook } from '../store/documents.ts';
import type { NoticeContext } from './context.ts';
import { newSecret, rotationMs } from './signature.ts';

/** Times that a change is tried again because another one came between. */
const mostTries = 5;

/** Sets where the user's messages go, and whether they do. The secret stays, or is made where there is none. */
export function setWebhook(
  context: NoticeContext,
  userId: string,
  { url, enabled }: Pick<Webhook, 'url' | 'enabled'>,
): Promise<Webhook> {
  const address = new URL(url);
  address.hash = '';
  const unset = { userId, secret: newSecret(), previousSecret: null, previousUntil: null };
  return change(context, userId, (webhook) => ({ ...(webhook ?? unset), url: address.href, enabled }));
}

/** Makes a new secret; the old one signs too for a day. Fault `not_found` without a webhook. */
export function rotateSecret(context: NoticeContext, userId: string): Promise<Webhook> {
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
  { store, clock }: NoticeContext,
  userId: string,
  make: (webhook: Webhook | null) => Omit<Webhook, 'updatedAt' | 'revision'>,
): Promise<Webhook> {
  for (let tries = 0; tries < mostTries; tries++) {
    const webhook = await store.getWebhook(userId);
    const revision = (webhook?.revision ?? 0) + 1;
    const changed = { ...make(webhook), updatedAt: clock.now(), revision };
    if (await store.putWebhook(changed)) return changed;
  }
  throw new Fault('conflict', 'The webhook is being changed by others. Try again.');
}
