import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { trustCertificate } from '../../test/support/servers/certificate.ts';
import {
  type MailBehavior,
  type MailServer,
  refusal,
  startMailServer,
} from '../../test/support/servers/mail-server.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import { parseSmtp } from '../base/notification-settings.ts';
import { createMailer, type Mail, type Mailer } from './mailer.ts';

trustCertificate();
const login = { user: 'ann@example.org', password: 'p:w' };
const stepMs = 2_000;
const never = new AbortController().signal;
const at = Date.UTC(2030, 0, 7, 4);
const mail: Mail = {
  id: '0b5e2a1e-0000-4000-8000-000000000001',
  from: 'Gleaner <gleaner@example.org>',
  to: 'ops@example.org',
  at,
  subject: 'A job waits',
  text: 'Who: Zoë\nCost: 20\n.\nEnd\n',
};

let server: MailServer;
let mailer: Mailer;
afterEach(async () => {
  mailer.close();
  await server.close();
});

async function open(
  behavior: MailBehavior,
  query = '',
  user = 'ann%40example.org:p%3Aw@',
): Promise<void> {
  server = await startMailServer(behavior);
  const scheme = behavior.tls === 'secure' ? 'smtps' : 'smtp';
  const smtp = parseSmtp(`${scheme}://${user}127.0.0.1:${server.port}${query}`);
  mailer = createMailer(smtp, { stepMs, totalMs: 5_000 });
}

const sent = (signal = never) => mailer.send(mail, signal);
const failure = async () => {
  const error = await sent().then(
    () => null,
    (thrown) => thrown,
  );
  return { message: error?.message as string, final: error?.final as boolean };
};

test.each(['offered', 'secure'] as const)(
  'sends an email over TLS (%s) with a login',
  async (tls) => {
    await open({ login, tls });
    await sent();
    expect(server.received).toMatchObject([
      {
        from: 'gleaner@example.org',
        to: ['ops@example.org'],
        user: login.user,
        secure: true,
        headers: {
          from: 'Gleaner <gleaner@example.org>',
          to: 'ops@example.org',
          subject: 'A job waits',
          date: 'Mon, 07 Jan 2030 04:00:00 +0000',
          'message-id': `<${mail.id}@example.org>`,
          'auto-submitted': 'auto-generated',
          'content-type': 'text/plain; charset=utf-8',
        },
      },
    ]);
    expect(server.received[0]!.text).toContain('Who: Zoë\nCost: 20\n.\nEnd\n');
  },
);

test('reuses the connection for the next email', async () => {
  await open({ login });
  await sent();
  await sent();
  expect(server.received).toHaveLength(2);
  expect(server.connections()).toBe(1);
});

test('sends no password without TLS', async () => {
  await open({ login, tls: 'none' });
  expect(await failure()).toMatchObject({
    final: false,
    message: expect.stringMatching(/STARTTLS|TLS/),
  });
  expect(server.received).toEqual([]);
});

test('sends a password without TLS if tls=off', async () => {
  await open({ login, tls: 'none' }, '?tls=off');
  await sent();
  expect(server.received).toMatchObject([{ user: login.user, secure: false }]);
});

test('uses TLS if it is offered, even without a login', async () => {
  await open({ tls: 'none' }, '', '');
  await sent();
  expect(server.received).toMatchObject([{ secure: false, user: undefined }]);
  mailer.close();
  await server.close();
  await open({ tls: 'offered' }, '', '');
  await sent();
  expect(server.received).toMatchObject([{ secure: true }]);
});

test('reports a refused login as retryable', async () => {
  await open({ login }, '', 'ann%40example.org:wrong@');
  expect(await failure()).toMatchObject({
    final: false,
    message: expect.stringContaining('Wrong user name'),
  });
});

test.each([
  ['temporary', 451, false],
  ['permanent', 550, true],
] as const)('distinguishes a %s refusal of a recipient or an email', async (_how, code, final) => {
  const behavior: MailBehavior = { login, recipient: () => refusal(code, 'Not this mailbox') };
  await open(behavior);
  expect(await failure()).toMatchObject({
    final,
    message: expect.stringContaining('Not this mailbox'),
  });
  delete behavior.recipient;
  behavior.data = () => refusal(code, 'Not this email');
  expect(await failure()).toMatchObject({
    final,
    message: expect.stringContaining('Not this email'),
  });
  delete behavior.data;
  await sent();
  expect(server.received).toHaveLength(1);
});

test('reports a silent or unreachable server as retryable', async () => {
  await open({ login, mute: true }, '', '');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const connected = server.nextConnection();
  const silent = failure();
  await connected;
  // The client learns of the connection in a later turn of the event loop and then starts to wait
  // for the greeting.
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  vi.advanceTimersByTime(stepMs);
  vi.useRealTimers();
  expect(await silent).toMatchObject({
    final: false,
    message: expect.stringContaining('Greeting'),
  });
  mailer.close();
  const unreachable = parseSmtp(`smtp://127.0.0.1:${await freePort()}`);
  mailer = createMailer(unreachable, { stepMs, totalMs: 5_000 });
  expect(await failure()).toMatchObject({
    final: false,
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('rejects with the reason of an aborted signal', async () => {
  await open({ login, mute: true });
  const stop = new AbortController();
  const sending = sent(stop.signal);
  stop.abort(new Error('stopped'));
  await expect(sending).rejects.toThrow('stopped');
  await expect(sent(stop.signal)).rejects.toThrow('stopped');
});
