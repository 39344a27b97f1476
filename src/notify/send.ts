import { Fault } from '../contract/fault.ts';
import type { WriteResult } from '../destinations/writer.ts';
import { parseRetryAfter } from '../fetch/retry-after.ts';
import type { PostResponse } from '../outbound/post.ts';
import { formatResponseError } from '../outbound/response-error.ts';
import type { AttemptResult } from '../store/deliveries.ts';
import type { Delivery } from '../store/documents.ts';
import type { NotifyContext } from './context.ts';
import { type Email, MailFault } from './email.ts';
import { delayAfter } from './schedule.ts';
import { sendFile } from './send-file.ts';
import { secretsOf, signatureHeaders } from './webhook.ts';

/** Outcome of an attempt, before the retry schedule is applied. */
type AttemptOutcome = WriteResult & { target: string };

/** Returns the receiver of a delivery. Each receiver has its own queue. */
export function receiverKey({ userId, channel, destinationId }: Delivery): string {
  if (channel === 'file') return `destination:${destinationId}`;
  return channel === 'email' ? 'email' : (userId ?? 'operators');
}

/**
 * Attempts a delivery and returns its new state. Any response but 2xx is retried until the schedule
 * ends. Rejects with the signal's reason if aborted; the outcome is then unknown.
 */
export async function attempt(
  context: NotifyContext,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const attempts = delivery.attempts - delivery.attemptsBefore + 1;
  const outcome = await sendBy(context, delivery, attempts, signal);
  const { clock } = context;
  const { target, status: responseStatus, error, final, retryAfterMs } = outcome;
  const result = { target, responseStatus, error };
  if (error === '')
    return {
      ...result,
      state: 'delivered',
      nextAttemptAt: null,
      endedAt: clock.now(),
    };
  const delay = final ? null : delayAfter(attempts, context.random(), retryAfterMs);
  if (delay === null)
    return {
      ...result,
      state: 'failed',
      nextAttemptAt: null,
      endedAt: clock.now(),
    };
  return {
    ...result,
    state: 'pending',
    nextAttemptAt: clock.steady() + delay,
    endedAt: null,
  };
}

/** Sends a delivery through its channel. */
async function sendBy(
  context: NotifyContext,
  delivery: Delivery,
  attempts: number,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  switch (delivery.channel) {
    case 'email':
      return sendMail(context, delivery, signal);
    case 'file':
      return { target: delivery.target, ...(await sendFile(context, delivery, attempts, signal)) };
    case 'webhook':
      return sendWebhook(context, delivery, signal);
  }
}

/**
 * The webhook's current address and secrets. They may have changed since the message was created.
 */
interface Receiver {
  url: string;
  secrets: readonly string[];
  guarded: boolean;
}

async function currentReceiver(
  context: NotifyContext,
  userId: string | null,
): Promise<Receiver | string> {
  const { settings, store, clock } = context;
  if (userId === null) {
    const { operatorWebhook } = settings.notices;
    if (operatorWebhook === null) return 'The operator webhook is no longer configured';
    return { url: operatorWebhook.url, secrets: [operatorWebhook.secret], guarded: false };
  }
  const webhook = await store.webhooks.get(userId);
  if (webhook === null) return 'The webhook was deleted';
  if (!webhook.enabled) return 'The webhook is disabled';
  return {
    url: webhook.url,
    secrets: secretsOf(webhook, clock.now()),
    guarded: !settings.notices.privateWebhooks,
  };
}

async function sendWebhook(
  context: NotifyContext,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { id, userId, body } = delivery;
  const receiver = await currentReceiver(context, userId);
  if (typeof receiver === 'string') {
    return {
      target: delivery.target,
      status: null,
      error: receiver,
      final: true,
    };
  }
  const { url, secrets, guarded } = receiver;
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Gleaner-Webhooks/1',
    ...signatureHeaders(id, body, secrets, context.clock.now()),
  };
  let response: PostResponse;
  try {
    response = await context.poster.post(
      {
        url,
        headers,
        body,
        guarded,
      },
      signal,
    );
  } catch (error) {
    if (signal.aborted) throw error;
    const fault = Fault.from(error);
    return {
      target: url,
      status: null,
      error: fault.message,
      final: fault.code === 'address_refused',
    };
  }
  const { status } = response;
  if (status >= 200 && status < 300) return { target: url, status, error: '' };
  if (status === 410 && userId !== null) await disableWebhook(context, userId, url);
  return {
    target: url,
    status,
    error: formatResponseError(response),
    final: status === 410,
    retryAfterMs: parseRetryAfter(response.headers, context.clock.now()),
  };
}

/**
 * Disables a webhook whose receiver answered 410 Gone, unless its address changed in the meantime.
 */
async function disableWebhook(
  { store, clock, log }: NotifyContext,
  userId: string,
  url: string,
): Promise<void> {
  const webhook = await store.webhooks.get(userId);
  if (webhook === null || webhook.url !== url || !webhook.enabled) return;
  const { revision } = webhook;
  const disabled = {
    ...webhook,
    enabled: false,
    updatedAt: clock.now(),
    revision: revision + 1,
  };
  if (await store.webhooks.put(disabled)) log.info({ userId }, 'webhook disabled: receiver gone');
}

async function sendMail(
  context: NotifyContext,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { settings, mailer } = context;
  const { email } = settings.notices;
  const { id, target, createdAt, body } = delivery;
  if (email === null || mailer === null) {
    return {
      target,
      status: null,
      error: 'No mail server is configured',
      final: true,
    };
  }
  const { subject, text } = JSON.parse(body) as Email;
  try {
    await mailer.send(
      {
        id,
        from: email.from,
        to: target,
        at: createdAt,
        subject,
        text,
      },
      signal,
    );
    return { target, status: null, error: '' };
  } catch (error) {
    if (!(error instanceof MailFault)) throw error;
    return {
      target,
      status: null,
      error: error.message,
      final: error.final,
    };
  }
}
