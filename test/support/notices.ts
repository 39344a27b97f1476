import { Webhook as Signer } from 'standardwebhooks';
import { expect, vi } from 'vitest';
import { newId } from '../../src/base/id.ts';
import { createLog } from '../../src/base/log.ts';
import type { NoticeSettings } from '../../src/base/notice-settings.ts';
import { createPoster } from '../../src/fetch/post.ts';
import type { NotifyContext } from '../../src/notify/context.ts';
import type { Mailer } from '../../src/notify/mailer.ts';
import { createNotifier, type Notifier } from '../../src/notify/notifier.ts';
import { newSecret } from '../../src/notify/signature.ts';
import { setWebhook } from '../../src/notify/webhook.ts';
import type { Delivery, Webhook } from '../../src/store/documents.ts';
import { type JobsBench, openJobs, variantSoldRequest } from './jobs.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';

/** Notifications in this process: SQLite in a file, a real receiver, a clock that stands still. */
export interface NoticesBench {
  jobs: JobsBench;
  context: NotifyContext;
  notifier: Notifier;
  receiver: Receiver;
  /** Makes a user with credits and a webhook at the receiver. */
  createUser(credits?: number): Promise<{ userId: string; webhook: Webhook }>;
  /** Looks around once and waits for what it began. */
  tell(notifier?: Notifier): Promise<void>;
  /** Verifies a message of this moment as its receiver does, and gives it. */
  // biome-ignore lint/suspicious/noExplicitAny: messages of every type.
  verified(message: Received, secret: string): any;
  /** Submits a job of variant sold and works it off; gives its id. */
  endedJob(userId: string): Promise<string>;
  /** Submits so many items; gives the job's id. */
  submittedJob(userId: string, items?: number): Promise<string>;
  /** All deliveries, oldest first. */
  deliveries(): Promise<Delivery[]>;
  close(): Promise<void>;
}

/** What the bench is set to. */
export interface NoticesOptions {
  operators?: boolean;
  email?: NoticeSettings['email'];
  mailer?: Mailer;
  /** Milliseconds that a receiver has. */
  answerMs?: number;
  approval?: boolean;
}

/** Opens the bench. */
export async function openNotices(options: NoticesOptions = {}): Promise<NoticesBench> {
  const { operators = false, email = null, mailer = null, answerMs = 5_000, approval = false } = options;
  const receiver = await startReceiver();
  const settings: NoticeSettings = {
    operatorWebhook: operators ? { url: `${receiver.url}/operators`, secret: newSecret() } : null,
    email,
    privateWebhooks: true,
  };
  const jobs = await openJobs({ approval, notices: settings });
  const { store, clock } = jobs.context;
  const poster = createPoster({ totalMs: answerMs });
  const context: NotifyContext = {
    store,
    clock,
    newId,
    settings,
    log: createLog('silent', 'test'),
    random: () => 0.5,
    publicUrl: () => 'https://gleaner.test',
    retrievePath: ({ id, kind }) => `/v1/${kind}/${id}`,
    poster,
    mailer,
  };
  const notifier = createNotifier(context);
  const submit = async (userId: string, request: ReturnType<typeof variantSoldRequest>) =>
    (await jobs.submit(userId, 'SubmitVariantSold', request)).jobId as string;
  return {
    jobs,
    context,
    notifier,
    receiver,
    async createUser(credits = 2_000) {
      const userId = await jobs.createUser(credits);
      return { userId, webhook: await setWebhook(context, userId, { url: receiver.url, enabled: true }) };
    },
    async tell(by = notifier) {
      await by.round();
      await by.idle();
    },
    verified({ headers, body }, secret) {
      expect(headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1_000)));
      // The verifier asks the machine what time it is.
      vi.useFakeTimers({ toFake: ['Date'], now: clock.now() });
      try {
        return new Signer(secret).verify(body, headers as Record<string, string>);
      } finally {
        vi.useRealTimers();
      }
    },
    submittedJob: (userId, items = 2) => submit(userId, variantSoldRequest(items)),
    async endedJob(userId) {
      const jobId = await submit(userId, variantSoldRequest(2, '30000000801'));
      await jobs.startWorker();
      await jobs.reaches(jobId, 'completed', 'partial_complete');
      return jobId;
    },
    deliveries: async () => (await store.listDeliveries(undefined, { limit: 1_000 })).items.toReversed(),
    async close() {
      await notifier.idle();
      await poster.close();
      await receiver.close();
      await jobs.close();
    },
  };
}
