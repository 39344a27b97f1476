import { Fault } from '../base/fault.ts';
import type { PostAnswer } from '../fetch/post.ts';
import { retryAfterMs } from '../fetch/retry-after.ts';
import type { Delivery } from '../store/documents.ts';
import type { AttemptEnd } from '../store/notices.ts';
import type { NotifyContext } from './context.ts';
import type { Email } from './email.ts';
import { MailFault } from './mailer.ts';
import { waitAfter } from './schedule.ts';
import { secretsOf, signed } from './signature.ts';

/** Longest part of a receiver's answer that is kept. */
const shownLength = 200;

/** What a try came to, before it is decided whether there is another. */
interface Outcome {
  target: string;
  status: number | null;
  /** '' for a message that was taken. */
  error: string;
  /** No further try makes sense. */
  final?: boolean;
  /** How long the receiver wants to be left alone. */
  askedMs?: number | undefined;
}

/** Which receiver a delivery goes to: one that hangs is to hold no other up. */
export function receiverOf({ userId, channel }: Delivery): string {
  return channel === 'email' ? 'email' : (userId ?? 'operators');
}

/**
 * Tries a delivery once and says how that ended; anything but a 2xx is tried again until its schedule is through.
 * An aborted signal rejects with its reason: nothing was decided then.
 */
export async function attempt(
  context: NotifyContext,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const outcome =
    delivery.channel === 'email'
      ? await sendMail(context, delivery, signal)
      : await sendWebhook(context, delivery, signal);
  const now = context.clock.now();
  const { target, status: responseStatus, error, final, askedMs } = outcome;
  const told = { target, responseStatus, error };
  if (error === '') return { ...told, state: 'delivered', nextAttemptAt: null, endedAt: now };
  const tries = delivery.attempts - delivery.attemptsBefore + 1;
  const wait = final ? null : waitAfter(tries, context.random(), askedMs);
  if (wait === null) return { ...told, state: 'failed', nextAttemptAt: null, endedAt: now };
  return { ...told, state: 'pending', nextAttemptAt: now + wait, endedAt: null };
}

/** Where a webhook's messages go now, which may be elsewhere than when the message was made. */
interface Receiver {
  url: string;
  secrets: readonly string[];
  guarded: boolean;
}

async function receiverNow(context: NotifyContext, userId: string | null): Promise<Receiver | string> {
  const { settings, store, clock } = context;
  if (userId === null) {
    const { operatorWebhook } = settings;
    if (operatorWebhook === null) return 'No webhook of the operators is configured any more';
    return { url: operatorWebhook.url, secrets: [operatorWebhook.secret], guarded: false };
  }
  const webhook = await store.getWebhook(userId);
  if (webhook === null) return 'The webhook was removed';
  if (!webhook.enabled) return 'The webhook is switched off';
  return {
    url: webhook.url,
    secrets: secretsOf(webhook, clock.now()),
    guarded: !settings.privateWebhooks,
  };
}

async function sendWebhook(
  context: NotifyContext,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Outcome> {
  const { id, userId, body } = delivery;
  const receiver = await receiverNow(context, userId);
  if (typeof receiver === 'string') {
    return { target: delivery.target, status: null, error: receiver, final: true };
  }
  const { url, secrets, guarded } = receiver;
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Gleaner-Webhooks/1',
    ...signed(id, body, secrets, context.clock.now()),
  };
  let answer: PostAnswer;
  try {
    answer = await context.poster.post({ url, headers, body, guarded }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const fault = Fault.from(error);
    return { target: url, status: null, error: fault.message, final: fault.code === 'address_refused' };
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return { target: url, status, error: '' };
  if (status === 410 && userId !== null) await switchOff(context, userId, url);
  return {
    target: url,
    status,
    error: inWords(answer),
    final: status === 410,
    askedMs: retryAfterMs(answer.headers, context.clock.now()),
  };
}

/** Switches a webhook off whose receiver is gone for good, unless it was changed meanwhile. */
async function switchOff({ store, clock, log }: NotifyContext, userId: string, url: string): Promise<void> {
  const webhook = await store.getWebhook(userId);
  if (webhook === null || webhook.url !== url || !webhook.enabled) return;
  const { revision } = webhook;
  const off = { ...webhook, enabled: false, updatedAt: clock.now(), revision: revision + 1 };
  if (await store.putWebhook(off)) log.info({ userId }, 'webhook switched off: its receiver is gone');
}

function inWords({ status, text }: PostAnswer): string {
  if (status >= 300 && status < 400) return `HTTP ${status}: redirects are not followed`;
  const shown = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out.
    .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, shownLength);
  return shown === '' ? `HTTP ${status}` : `HTTP ${status}: ${shown}`;
}

async function sendMail(context: NotifyContext, delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
  const { settings, mailer } = context;
  const { id, target, createdAt, body } = delivery;
  if (settings.email === null || mailer === null) {
    return { target, status: null, error: 'No mail server is configured any more', final: true };
  }
  const { subject, text } = JSON.parse(body) as Email;
  try {
    await mailer.send({ id, from: settings.email.from, to: target, at: createdAt, subject, text }, signal);
    return { target, status: null, error: '' };
  } catch (error) {
    if (!(error instanceof MailFault)) throw error;
    return { target, status: null, error: error.message, final: error.final };
  }
}
