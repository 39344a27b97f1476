import type { JobContext } from '../jobs/context.ts';
import { queueEmailForUser, queueForUser } from '../notify/queue.ts';
import { trackedItemId } from '../store/history-ids.ts';
import { type FiredItem, itemEmail, itemNotice } from './message.ts';

/**
 * Queues the messages about an item: one webhook and one email at most for each job and item, under
 * stable keys. Returns false if none was queued, because the user has no enabled webhook or no
 * address.
 */
export async function notifyOfItem(context: JobContext, fired: FiredItem): Promise<boolean> {
  const { userId } = fired.item;
  const { jobId } = fired.run;
  const about = `${jobId}:${trackedItemId(fired.item, '')}`;
  const rulesOf = (channel: 'webhook' | 'email') =>
    fired.rules.filter((rule) => rule.channel === channel);
  let queued = false;
  const byWebhook = rulesOf('webhook');
  if (byWebhook.length > 0) {
    const notice = () => itemNotice({ ...fired, rules: byWebhook });
    queued = (await queueForUser(context, userId, about, jobId, notice)) !== null;
  }
  const byEmail = rulesOf('email');
  if (byEmail.length > 0 && context.settings.notices.email !== null) {
    const user = await context.store.users.get(userId);
    if (user === null || user.email === '') return queued;
    const email = itemEmail({ ...fired, rules: byEmail });
    await queueEmailForUser(context, user, about, jobId, { type: 'item.changed', email });
    return true;
  }
  return queued;
}
