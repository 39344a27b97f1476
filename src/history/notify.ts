import type { NoticeContext } from '../notify/context.ts';
import { queueEmailForUser, queueForUser } from '../notify/queue.ts';
import { trackedItemId } from '../store/item-ids.ts';
import type { HistoryContext } from './context.ts';
import { type FiredItem, itemEmail, itemNotice } from './message.ts';

/** Dependencies of this module. */
type NotifyItemContext = Pick<HistoryContext, 'clock' | 'newId' | 'settings'> & {
  store: NoticeContext['store'] & Pick<HistoryContext['store'], 'getUser'>;
};

/**
 * Queues the messages about an item: one webhook and one e-mail at most for each job and item, under stable keys. Returns
 * false if none was queued, because the user has no enabled webhook or no address.
 */
export async function notifyOfItem(context: NotifyItemContext, fired: FiredItem): Promise<boolean> {
  const { userId } = fired.item;
  const { jobId } = fired.run;
  const notices = { ...context, settings: context.settings.notices };
  const about = `${jobId}:${trackedItemId(fired.item, '')}`;
  const rulesOf = (channel: 'webhook' | 'email') => fired.rules.filter((rule) => rule.channel === channel);
  let queued = false;
  const byWebhook = rulesOf('webhook');
  if (byWebhook.length > 0) {
    const notice = () => itemNotice({ ...fired, rules: byWebhook });
    queued = (await queueForUser(notices, userId, about, jobId, notice)) !== null;
  }
  const byEmail = rulesOf('email');
  if (byEmail.length > 0 && notices.settings.email !== null) {
    const user = await context.store.getUser(userId);
    if (user === null || user.email === '') return queued;
    const email = itemEmail({ ...fired, rules: byEmail });
    await queueEmailForUser(notices, user, about, jobId, { type: 'item.changed', email });
    return true;
  }
  return queued;
}
