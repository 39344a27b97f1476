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
import { type JobsBench, openJobs } from './jobs.ts';
import { type Receiver, startReceiver } from './receiver.ts';

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
    deliveries: async () => (await store.listDeliveries(undefined, { limit: 1_000 })).items.toReversed(),
    async close() {
      await notifier.idle();
      await poster.close();
      await receiver.close();
      await jobs.close();
    },
  };
}
