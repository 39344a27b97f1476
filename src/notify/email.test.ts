import { afterEach, expect, test } from 'vitest';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { trustCertificate } from '../../test/support/servers/certificate.ts';
import {
  type MailBehavior,
  type MailServer,
  refusal,
  startMailServer,
} from '../../test/support/servers/mail-server.ts';
import { parseSmtp } from '../base/notification-settings.ts';
import type { FieldDrift } from '../quality/alarms.ts';
import type { Job, User } from '../store/documents.ts';
import { driftEmail, waitingEmail } from './email.ts';
import { createMailer, type Mailer } from './mailer.ts';
import { queueOperatorTest } from './queue.ts';

trustCertificate();
const hour = 3_600_000;
let fixture: NotificationFixture;
let server: MailServer;
let mailer: Mailer;
afterEach(async () => {
  await fixture?.close();
  mailer?.close();
  await server?.close();
});

async function open(
  behavior: MailBehavior = {},
  to = ['ann@example.org', 'bob@example.org'],
): Promise<void> {
  server = await startMailServer(behavior);
  const smtp = parseSmtp(`smtp://127.0.0.1:${server.port}`);
  mailer = createMailer(smtp, { stepMs: 5_000, totalMs: 10_000 });
  const email = { smtp, from: 'gleaner@example.org', to };
  fixture = await openNotifications({ operators: true, approval: true, email, mailer });
}

const waiting = (job: Partial<Job>, user: Partial<User> | null) => ({
  job: {
    id: 'j',
    userId: 'u',
    kind: 'variant_sold',
    market: 'mkta',
    region: 'sg',
    cost: 20,
    totalUnits: 2,
    decideBy: Date.UTC(2030, 0, 8, 4),
    schedule: null,
    ...job,
  } as Job,
  user: user && ({ id: 'u', name: 'Zoë', email: '', balance: 50, ...user } as User),
  link: 'https://gleaner.test/console/jobs/j',
  scheduleLink: '',
  now: Date.UTC(2030, 0, 7, 4),
});

test('waitingEmail() lists the user, job, cost, balance, time left and link', () => {
  expect(waitingEmail('job.awaiting_approval', waiting({}, { email: 'zoe@example.org' }))).toEqual({
    subject: 'Awaiting approval: job of Zoë, 20 credits',
    text: `A job is awaiting approval.

User:      Zoë <zoe@example.org>
Job:       variant_sold on mkta (sg), 2 units
Cost:      20 credits
Balance:   50 credits
Time left: 24 hours, until 2030-01-08 04:00 UTC

Approve or reject: https://gleaner.test/console/jobs/j
`,
  });
});

test('waitingEmail() announces the rejection and the missing credits near the deadline', () => {
  const now = Date.UTC(2030, 0, 8, 2, 30);
  const it = { ...waiting({ totalUnits: 1, cost: 1, region: '' }, { balance: 0 }), now };
  const { subject, text } = waitingEmail('job.approval_expiring', it);
  expect(subject).toBe('Expires in 90 minutes: job of Zoë, 1 credit');
  expect(text).toContain('It will be rejected in 90 minutes unless an operator decides.');
  expect(text).toContain('variant_sold on mkta, 1 unit\n');
  expect(text).toContain('Balance:   0 credits (1 short, if the job is not charged yet)');
});

test('waitingEmail() says that the approval of a run covers later runs', () => {
  const run = waiting({ schedule: { id: 's', version: 1 } }, {});
  const scheduleLink = 'https://gleaner.test/console/schedules/s';
  expect(waitingEmail('job.awaiting_approval', { ...run, scheduleLink }).text).toContain(
    `Schedule:  ${scheduleLink}. An approval covers its later runs at this cost or below.\n`,
  );
});

test('a user name cannot inject lines or headers', () => {
  const name = 'Eve\r\nBcc: eve@example.org\n\nApprove or reject: https://evil.example/';
  const { subject, text } = waitingEmail('job.awaiting_approval', waiting({}, { name }));
  expect(subject).not.toMatch(/[\r\n]/);
  expect(text).not.toMatch(/^(Bcc|Approve or reject: https:\/\/evil)/m);
  expect(waitingEmail('job.awaiting_approval', waiting({}, null)).subject).toContain('job of u,');
});

test('a user name cannot reverse the text after it', () => {
  const user = { name: 'Eve \u202e02\u2066', email: 'eve\u202b@example.org' };
  const { subject, text } = waitingEmail('job.awaiting_approval', waiting({}, user));
  expect(subject).toBe('Awaiting approval: job of Eve 02, 20 credits');
  expect(text).toContain('User:      Eve 02 <eve@example.org>\n');
});

test('emails each operator once about a waiting job and once before its deadline', async () => {
  await open();
  const jobId = await fixture.submittedJob(await fixture.jobs.createUser(50));
  await fixture.poll();
  await fixture.poll();
  expect(server.received.map(({ to }) => to).toSorted()).toEqual([
    ['ann@example.org'],
    ['bob@example.org'],
  ]);
  const [mail] = server.received;
  expect(mail).toMatchObject({
    from: 'gleaner@example.org',
    headers: {
      subject: 'Awaiting approval: job of Test, 20 credits',
      date: 'Mon, 07 Jan 2030 04:00:00 +0000',
    },
  });
  expect(mail!.text).toContain(`Approve or reject: https://gleaner.test/console/jobs/${jobId}`);
  expect(fixture.receiver.received).toHaveLength(1);
  await fixture.jobs.clock.advance(22 * hour);
  await fixture.poll();
  expect(server.received).toHaveLength(4);
  expect(server.received[2]!.headers.subject).toBe('Expires in 2 hours: job of Test, 20 credits');
  const log = (await fixture.deliveries()).map(({ key, state, attempts }) => [
    key,
    state,
    attempts,
  ]);
  expect(log.toSorted()).toEqual(
    ['approval_expiring', 'awaiting_approval'].flatMap((type) =>
      ['email:ann@example.org', 'email:bob@example.org', 'operators'].map((to) => [
        `job.${type}:${jobId}:${to}`,
        'delivered',
        1,
      ]),
    ),
  );
  expect(new Set(server.received.map(({ headers }) => headers['message-id'])).size).toBe(4);
});

test('retries after a temporary refusal and gives up after a permanent one', async () => {
  const behavior: MailBehavior = {
    recipient: (address) => (address.startsWith('bob') ? refusal(550, 'No such mailbox') : null),
    data: () => refusal(452, 'No room'),
  };
  await open(behavior);
  fixture.context.settings.notices.operatorWebhook = null;
  await queueOperatorTest(fixture.context);
  await fixture.poll();
  const byTarget = async () =>
    (await fixture.deliveries()).toSorted((a, b) => (a.target < b.target ? -1 : 1));
  expect(await byTarget()).toMatchObject([
    {
      target: 'ann@example.org',
      state: 'pending',
      attempts: 1,
      error: expect.stringContaining('No room'),
    },
    {
      target: 'bob@example.org',
      state: 'failed',
      attempts: 1,
      error: expect.stringContaining('No such'),
    },
  ]);
  delete behavior.data;
  await fixture.jobs.clock.advance(5_000);
  await fixture.poll();
  expect(server.received).toMatchObject([
    { to: ['ann@example.org'], text: expect.stringContaining('awaiting approval will be sent') },
  ]);
  expect(await byTarget()).toMatchObject([
    { state: 'delivered', attempts: 2, error: '' },
    { state: 'failed' },
  ]);
});

test('fails deliveries whose channel is no longer configured', async () => {
  await open();
  await queueOperatorTest(fixture.context);
  fixture.context.settings.notices.operatorWebhook = null;
  fixture.context.settings.notices.email = null;
  await fixture.poll();
  const ends = (await fixture.deliveries()).map(({ channel, state, error }) => [
    channel,
    state,
    error,
  ]);
  expect(ends.toSorted()).toEqual([
    ['email', 'failed', 'No mail server is configured'],
    ['email', 'failed', 'No mail server is configured'],
    ['webhook', 'failed', 'The operator webhook is no longer configured'],
  ]);
});

test.each([
  [0.997, 0.004, '99 %', '1 %'],
  [1, 0, '100 %', '0 %'],
  [0.625, null, '63 %', '0 %'],
])(
  'driftEmail() rounds the shares %d and %d to neither all nor none',
  (absent, baseline, now, before) => {
    const drift = { market: 'mkte', page: 'search', field: 'price', absent, baseline };
    expect(driftEmail([drift as FieldDrift]).text).toContain(
      `price: missing from ${now} of the newest pages, before from ${before}`,
    );
  },
);
