import { afterEach, expect, test } from 'vitest';
import { trustCertificate } from '../../test/support/certificate.ts';
import {
  type MailManners,
  type MailServer,
  refusal,
  startMailServer,
} from '../../test/support/mail-server.ts';
import { type NoticesBench, openNotices } from '../../test/support/notices.ts';
import { parseSmtp } from '../base/notice-settings.ts';
import type { Job, User } from '../store/documents.ts';
import { waitingEmail } from './email.ts';
import { createMailer, type Mailer } from './mailer.ts';
import { queueOperatorTest } from './queue.ts';

trustCertificate();
const hour = 3_600_000;
let bench: NoticesBench;
let server: MailServer;
let mailer: Mailer;
afterEach(async () => {
  await bench?.close();
  mailer?.close();
  await server?.close();
});

async function open(manners: MailManners = {}, to = ['ann@example.org', 'bob@example.org']): Promise<void> {
  server = await startMailServer(manners);
  const smtp = parseSmtp(`smtp://127.0.0.1:${server.port}`);
  mailer = createMailer(smtp, { stepMs: 5_000, totalMs: 10_000 });
  const email = { smtp, from: 'gleaner@example.org', to };
  bench = await openNotices({ operators: true, approval: true, email, mailer });
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
    ...job,
  } as Job,
  user: user && ({ id: 'u', name: 'Zoë', email: '', balance: 50, ...user } as User),
  link: 'https://gleaner.test/console/jobs/j',
  now: Date.UTC(2030, 0, 7, 4),
});

test('it says who, what, cost, balance, time left and where to decide', () => {
  expect(waitingEmail('job.awaiting_approval', waiting({}, { email: 'zoe@example.org' }))).toEqual({
    subject: 'Awaiting approval: job of Zoë, 20 credits',
    text: `A job waits for approval.

Who:       Zoë <zoe@example.org>
What:      variant_sold on mkta (sg), 2 units
Cost:      20 credits
Balance:   50 credits
Time left: 24 hours, until 2030-01-08 04:00 UTC

Decide: https://gleaner.test/console/jobs/j
`,
  });
});

test('near the end of its time it says what happens then, and what is short', () => {
  const now = Date.UTC(2030, 0, 8, 2, 30);
  const it = { ...waiting({ totalUnits: 1, cost: 1, region: '' }, { balance: 0 }), now };
  const { subject, text } = waitingEmail('job.approval_expiring', it);
  expect(subject).toBe('Expires in 90 minutes: job of Zoë, 1 credit');
  expect(text).toContain('It is rejected in 90 minutes unless someone decides.');
  expect(text).toContain('variant_sold on mkta, 1 unit\n');
  expect(text).toContain('Balance:   0 credits: 1 too few, where none were charged yet');
});

test('a name cannot make lines or headers of its own', () => {
  const name = 'Eve\r\nBcc: eve@example.org\n\nDecide: https://evil.example/';
  const { subject, text } = waitingEmail('job.awaiting_approval', waiting({}, { name }));
  expect(subject).not.toMatch(/[\r\n]/);
  expect(text).not.toMatch(/^(Bcc|Decide: https:\/\/evil)/m);
  expect(waitingEmail('job.awaiting_approval', waiting({}, null)).subject).toContain('job of u,');
});

test('each operator is mailed once of a job that waits and once before its time is over, beside the webhook', async () => {
  await open();
  const jobId = await bench.submittedJob(await bench.jobs.createUser(50));
  await bench.tell();
  await bench.tell();
  expect(server.received.map(({ to }) => to).toSorted()).toEqual([['ann@example.org'], ['bob@example.org']]);
  const [mail] = server.received;
  expect(mail).toMatchObject({
    from: 'gleaner@example.org',
    headers: {
      subject: 'Awaiting approval: job of Test, 20 credits',
      date: 'Mon, 07 Jan 2030 04:00:00 +0000',
    },
  });
  expect(mail!.text).toContain(`Decide: https://gleaner.test/console/jobs/${jobId}`);
  expect(bench.receiver.received).toHaveLength(1);
  await bench.jobs.clock.pass(22 * hour);
  await bench.tell();
  expect(server.received).toHaveLength(4);
  expect(server.received[2]!.headers.subject).toBe('Expires in 2 hours: job of Test, 20 credits');
  const log = (await bench.deliveries()).map(({ key, state, attempts }) => [key, state, attempts]);
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

test('a server that is short of room is asked again; an address that it refuses for good is not', async () => {
  const manners: MailManners = {
    recipient: (address) => (address.startsWith('bob') ? refusal(550, 'No such mailbox') : null),
    data: () => refusal(452, 'No room'),
  };
  await open(manners);
  bench.context.settings.operatorWebhook = null;
  await queueOperatorTest(bench.context);
  await bench.tell();
  const byTarget = async () => (await bench.deliveries()).toSorted((a, b) => (a.target < b.target ? -1 : 1));
  expect(await byTarget()).toMatchObject([
    { target: 'ann@example.org', state: 'pending', attempts: 1, error: expect.stringContaining('No room') },
    { target: 'bob@example.org', state: 'failed', attempts: 1, error: expect.stringContaining('No such') },
  ]);
  delete manners.data;
  await bench.jobs.clock.pass(5_000);
  await bench.tell();
  expect(server.received).toMatchObject([
    { to: ['ann@example.org'], text: expect.stringContaining('approval arrive here') },
  ]);
  expect(await byTarget()).toMatchObject([
    { state: 'delivered', attempts: 2, error: '' },
    { state: 'failed' },
  ]);
});

test('what cannot be sent any more, because nothing is configured, ends', async () => {
  await open();
  await queueOperatorTest(bench.context);
  bench.context.settings.operatorWebhook = null;
  bench.context.settings.email = null;
  await bench.tell();
  const ends = (await bench.deliveries()).map(({ channel, state, error }) => [channel, state, error]);
  expect(ends.toSorted()).toEqual([
    ['email', 'failed', 'No mail server is configured any more'],
    ['email', 'failed', 'No mail server is configured any more'],
    ['webhook', 'failed', 'No webhook of the operators is configured any more'],
  ]);
});
