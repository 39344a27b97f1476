import { Fault } from '../contract/fault.ts';
import { targetOf } from '../destinations/address.ts';
import { expandPath } from '../destinations/path-template.ts';
import type { JobContext } from '../jobs/context.ts';
import type { Destination } from '../store/destinations.ts';
import type { Delivery, Job, User } from '../store/documents.ts';
import type { NotifyContext } from './context.ts';
import { type Email, testEmail } from './email.ts';
import {
  type FileNotice,
  type Notice,
  type NoticeType,
  newDelivery,
  testNotice,
} from './message.ts';

/** A message to operators as a webhook body and as an email. */
export interface OperatorMessage {
  notice: Notice;
  email: Email;
}

/**
 * Stores one delivery per operator address, idempotent by `about`. Returns the newly stored
 * deliveries.
 */
export async function queueForOperators(
  context: JobContext,
  about: string,
  jobId: string | null,
  { notice, email }: OperatorMessage,
): Promise<Delivery[]> {
  const { operatorWebhook, email: mail } = context.settings.notices;
  const messages = [
    ...(operatorWebhook
      ? [{ channel: 'webhook' as const, target: operatorWebhook.url, body: notice as object }]
      : []),
    ...(mail?.to ?? []).map((target) => ({
      channel: 'email' as const,
      target,
      body: email as object,
    })),
  ];
  const queued: Delivery[] = [];
  for (const { channel, target, body } of messages) {
    const address = { userId: null, channel, target };
    const delivery = deliveryOf(context, address, {
      type: notice.type,
      about,
      jobId,
      body,
    });
    if (await context.store.deliveries.insert(delivery)) queued.push(delivery);
  }
  return queued;
}

/**
 * Stores a delivery to the user's webhook, idempotent by `about`. Returns null if there is no
 * enabled webhook.
 */
export async function queueForUser(
  context: JobContext,
  userId: string,
  about: string,
  jobId: string | null,
  createNotice: () => Promise<Notice> | Notice,
): Promise<Delivery | null> {
  const webhook = await context.store.webhooks.get(userId);
  if (webhook === null || !webhook.enabled) return null;
  const notice = await createNotice();
  const address = { userId, channel: 'webhook' as const, target: webhook.url };
  const delivery = deliveryOf(context, address, {
    type: notice.type,
    about,
    jobId,
    body: notice,
  });
  await context.store.deliveries.insert(delivery);
  return delivery;
}

/** Stores an email to a user, idempotent by `about`. */
export async function queueEmailForUser(
  context: JobContext,
  { id: userId, email: target }: Pick<User, 'id' | 'email'>,
  about: string,
  jobId: string | null,
  { type, email }: { type: NoticeType; email: Email },
): Promise<void> {
  const address = { userId, channel: 'email' as const, target };
  await context.store.deliveries.insert(
    deliveryOf(context, address, {
      type,
      about,
      jobId,
      body: email,
    }),
  );
}

/**
 * Stores one delivery of an ended job's results per destination that the submission named,
 * idempotent by job and destination. Its file keeps the name that it gets here in every attempt.
 * Jobs without results, and deleted destinations, have none.
 */
export async function queueFiles(context: NotifyContext, job: Job, success: number): Promise<void> {
  const { store, clock, newId } = context;
  if (success === 0) return;
  for (const id of destinationsOf(job)) {
    const destination = await store.destinations.get(id);
    if (destination === null || destination.userId !== job.userId) continue;
    const notice = fileNotice(context, job, destination);
    const target = targetOf(destination, notice.data.path);
    const address = {
      userId: job.userId,
      channel: 'file' as const,
      target,
      destinationId: id,
    };
    const message = {
      type: notice.type,
      about: job.id,
      jobId: job.id,
      body: JSON.stringify(notice),
    };
    await store.deliveries.insert(newDelivery(newId(), address, message, clock));
  }
}

/** Returns the ids of the destinations of a job. */
function destinationsOf({ options }: Pick<Job, 'options'>): string[] {
  return (options.deliverTo ?? '').split(',').filter((id) => id !== '');
}

function fileNotice(
  { openResults }: NotifyContext,
  job: Job,
  destination: Destination,
): FileNotice {
  const { market, kind, region, state, id: jobId } = job;
  const { name, format } = destination;
  const endedAt = job.finishedAt ?? job.stateSince;
  const { extension: ext } = openResults(job, format);
  const values = {
    market,
    kind,
    region,
    status: state,
    jobId,
    endedAt,
    ext,
  };
  const path = expandPath(destination.path, values);
  return {
    type: 'job.results',
    timestamp: new Date(endedAt).toISOString(),
    data: {
      job_id: jobId,
      destination: name,
      format,
      path,
    },
  };
}

/**
 * Queues a `test` message to the user's webhook. Throws `not_found` if there is no enabled webhook.
 */
export async function queueTest(context: JobContext, userId: string): Promise<Delivery> {
  const notice = () => testNotice(context.clock.now());
  const queued = await queueForUser(context, userId, context.newId(), null, notice);
  if (queued === null) throw new Fault('not_found', 'There is no enabled webhook.');
  return queued;
}

/** Queues a test message to every operator address. */
export function queueOperatorTest(context: JobContext): Promise<Delivery[]> {
  const message = { notice: testNotice(context.clock.now()), email: testEmail() };
  return queueForOperators(context, context.newId(), null, message);
}

function deliveryOf(
  { newId, clock }: JobContext,
  address: Parameters<typeof newDelivery>[1],
  { body, ...message }: { type: NoticeType; about: string; jobId: string | null; body: object },
): Delivery {
  return newDelivery(newId(), address, { ...message, body: JSON.stringify(body) }, clock);
}
