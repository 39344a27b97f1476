import { Webhook as Signer } from 'standardwebhooks';
import { expect, vi } from 'vitest';
import { newId } from '../../../src/base/id.ts';
import { createLog } from '../../../src/base/log.ts';
import type { NoticeSettings } from '../../../src/base/notification-settings.ts';
import type { SubmitOptionValues } from '../../../src/contract/submit-options.ts';
import { createConcurrencyLimit } from '../../../src/fetch/concurrency-limit.ts';
import { openJobFile } from '../../../src/jobs/queries/files.ts';
import type { NotifyContext } from '../../../src/notify/context.ts';
import type { Mailer } from '../../../src/notify/mailer.ts';
import { createNotifier, type Notifier } from '../../../src/notify/notifier.ts';
import { newSecret, setWebhook } from '../../../src/notify/webhook.ts';
import { createPoster } from '../../../src/outbound/post.ts';
import type { Delivery, Webhook } from '../../../src/store/documents.ts';
import type { Store } from '../../../src/store/store.ts';
import { type ReceivedMessage, startReceiver, type WebhookReceiver } from '../servers/receiver.ts';
import { type JobFixture, openJobFixture, variantSoldRequest } from './jobs.ts';

/**
 * Notifications within the test process: SQLite in a file, a real HTTP receiver, a manual clock.
 */
export interface NotificationFixture {
  jobs: JobFixture;
  context: NotifyContext;
  notifier: Notifier;
  receiver: WebhookReceiver;
  /** Creates a user with credits and a webhook at the receiver. */
  createUser(credits?: number): Promise<{ userId: string; webhook: Webhook }>;
  /** Polls once and waits for the deliveries it starts. */
  poll(notifier?: Notifier): Promise<void>;
  /** Verifies the signature of a message sent at the current time and returns its body. */
  // biome-ignore lint/suspicious/noExplicitAny: messages of every type.
  verified(message: ReceivedMessage, secret: string): any;
  /** Submits a variant-sold job, runs it and returns its id. */
  endedJob(userId: string, options?: SubmitOptionValues): Promise<string>;
  /** Submits a job with the number of items and returns its id. */
  submittedJob(userId: string, items?: number): Promise<string>;
  /** All deliveries, oldest first. */
  deliveries(): Promise<Delivery[]>;
  close(): Promise<void>;
}

/** Options for openNotifications(). */
export interface NotificationOptions {
  operators?: boolean;
  email?: NoticeSettings['email'];
  mailer?: Mailer;
  /** Timeout for a receiver's response. */
  timeoutMs?: number;
  approval?: boolean;
  /** Default: SQLite in memory. */
  store?: Store | undefined;
}

/** Opens a notification fixture; close it after the test. */
export async function openNotifications(
  options: NotificationOptions = {},
): Promise<NotificationFixture> {
  const {
    operators = false,
    email = null,
    mailer = null,
    timeoutMs = 5_000,
    approval = false,
  } = options;
  const receiver = await startReceiver();
  const settings: NoticeSettings = {
    operatorWebhook: operators ? { url: `${receiver.url}/operators`, secret: newSecret() } : null,
    email,
    privateWebhooks: true,
  };
  const jobs = await openJobFixture({ approval, notices: settings }, options.store);
  const { store, clock } = jobs.context;
  const poster = createPoster({ totalMs: timeoutMs });
  const context: NotifyContext = {
    ...jobs.context,
    newId,
    log: createLog('silent', 'test'),
    random: () => 0.5,
    publicUrl: () => 'https://gleaner.test',
    retrievePath: ({ id, kind }) => `/v1/${kind}/${id}`,
    poster,
    mailer,
    openResults: (job, format) => openJobFile(jobs.context, job, format),
    uploads: createConcurrencyLimit(2),
  };
  const notifier = createNotifier(context);
  const submit = async (
    userId: string,
    request: ReturnType<typeof variantSoldRequest>,
    options?: SubmitOptionValues,
  ) =>
    (await jobs.submit(userId, 'SubmitVariantSold', request, undefined, options)).jobId as string;
  return {
    jobs,
    context,
    notifier,
    receiver,
    async createUser(credits = 2_000) {
      const userId = await jobs.createUser(credits);
      return {
        userId,
        webhook: await setWebhook(context, userId, { url: receiver.url, enabled: true }),
      };
    },
    async poll(by = notifier) {
      await by.poll();
      await by.idle();
    },
    verified({ headers, body }, secret) {
      expect(headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1_000)));
      // The verifier reads the system time.
      vi.useFakeTimers({ toFake: ['Date'], now: clock.now() });
      try {
        return new Signer(secret).verify(body, headers as Record<string, string>);
      } finally {
        vi.useRealTimers();
      }
    },
    submittedJob: (userId, items = 2) => submit(userId, variantSoldRequest(items)),
    async endedJob(userId, options) {
      const jobId = await submit(userId, variantSoldRequest(2, '30000000801'), options);
      await jobs.startWorker();
      await jobs.waitForState(jobId, 'completed', 'partial_complete');
      return jobId;
    },
    deliveries: async () => (await store.deliveries.list({}, { limit: 1_000 })).items.toReversed(),
    async close() {
      await notifier.idle();
      await poster.close();
      await receiver.close();
      await jobs.close();
    },
  };
}
