import { afterEach, expect, test } from 'vitest';
import { trustCertificate } from '../../test/support/certificate.ts';
import {
  type MailManners,
  type MailServer,
  refusal,
  startMailServer,
} from '../../test/support/mail-server.ts';
import { parseSmtp } from '../base/notice-settings.ts';
import { createMailer, type Mail, type Mailer } from './mailer.ts';

trustCertificate();
const login = { user: 'ann@example.org', password: 'p:w' };
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
  manners: MailManners,
  query = '',
  user = 'ann%40example.org:p%3Aw@',
  stepMs = 2_000,
): Promise<void> {
  server = await startMailServer(manners);
  const scheme = manners.tls === 'secure' ? 'smtps' : 'smtp';
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

test.each(['offered', 'secure'] as const)('an e-mail is sent over TLS (%s) with a login', async (tls) => {
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
});

test('a connection is kept for the next e-mail', async () => {
  await open({ login });
  await sent();
  await sent();
  expect(server.received).toHaveLength(2);
  expect(server.connections()).toBe(1);
});

test('no password is sent where the server does not encrypt', async () => {
  await open({ login, tls: 'none' });
  expect(await failure()).toMatchObject({ final: false, message: expect.stringMatching(/STARTTLS|TLS/) });
  expect(server.received).toEqual([]);
});

test('unless that is asked for', async () => {
  await open({ login, tls: 'none' }, '?tls=off');
  await sent();
  expect(server.received).toMatchObject([{ user: login.user, secure: false }]);
});

test('without a login TLS is used where it is offered', async () => {
  await open({ tls: 'none' }, '', '');
  await sent();
  expect(server.received).toMatchObject([{ secure: false, user: undefined }]);
  mailer.close();
  await server.close();
  await open({ tls: 'offered' }, '', '');
  await sent();
  expect(server.received).toMatchObject([{ secure: true }]);
});

test('a login that is refused may be mended', async () => {
  await open({ login }, '', 'ann%40example.org:wrong@');
  expect(await failure()).toMatchObject({
    final: false,
    message: expect.stringContaining('Wrong user name'),
  });
});

test.each([
  ['for now', 451, false],
  ['for good', 550, true],
] as const)('a server that refuses a recipient or an e-mail %s is told apart', async (_how, code, final) => {
  const manners: MailManners = { login, recipient: () => refusal(code, 'Not this mailbox') };
  await open(manners);
  expect(await failure()).toMatchObject({ final, message: expect.stringContaining('Not this mailbox') });
  delete manners.recipient;
  manners.data = () => refusal(code, 'Not this e-mail');
  expect(await failure()).toMatchObject({ final, message: expect.stringContaining('Not this e-mail') });
  delete manners.data;
  await sent();
  expect(server.received).toHaveLength(1);
});

test('a server that is not there, or says nothing, is given up', async () => {
  await open({ login, mute: true }, '', '', 100);
  expect(await failure()).toMatchObject({ final: false, message: expect.stringContaining('Greeting') });
  mailer.close();
  const { port } = server;
  await server.close();
  mailer = createMailer(parseSmtp(`smtp://127.0.0.1:${port}`), { stepMs: 1_000, totalMs: 5_000 });
  expect(await failure()).toMatchObject({ final: false, message: expect.stringContaining('ECONNREFUSED') });
});

test('an aborted signal ends it at once', async () => {
  await open({ login, mute: true });
  const stop = new AbortController();
  const sending = sent(stop.signal);
  stop.abort(new Error('stopped'));
  await expect(sending).rejects.toThrow('stopped');
  await expect(sent(stop.signal)).rejects.toThrow('stopped');
});
