import { expect, test } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';
import { parseSmtp } from './notification-settings.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const webhook = {
  GLEANER_OPERATOR_WEBHOOK_URL: 'http://10.0.0.7:9000/gleaner?x=1#top',
  GLEANER_OPERATOR_WEBHOOK_SECRET: secret,
};
const email = {
  GLEANER_SMTP_URL: 'smtp://ann%40example.org:p%3Aw@mail.example.org',
  GLEANER_EMAIL_FROM: 'Gleaner <gleaner@example.org>',
  GLEANER_OPERATOR_EMAIL: 'ann@example.org, bob@example.org,ann@example.org',
};

test('loadConfig() configures no notifications by default', () => {
  expect(loadConfig({}).notices).toEqual({
    operatorWebhook: null,
    email: null,
    privateWebhooks: false,
  });
});

test('loadConfig() reads the recipients of operator notifications', () => {
  const { notices } = loadConfig({ ...webhook, ...email, GLEANER_PRIVATE: 'on' });
  expect(notices).toEqual({
    operatorWebhook: { url: 'http://10.0.0.7:9000/gleaner?x=1', secret },
    email: {
      smtp: {
        host: 'mail.example.org',
        port: 587,
        tls: 'required',
        login: { user: 'ann@example.org', password: 'p:w' },
      },
      from: 'Gleaner <gleaner@example.org>',
      to: ['ann@example.org', 'bob@example.org'],
    },
    privateWebhooks: true,
  });
});

test.each([
  ['smtps://mail.example.org', { port: 465, tls: 'always', login: null }],
  ['smtps://ann:x@[2001:db8::1]:2465', { host: '2001:db8::1', port: 2465, tls: 'always' }],
  ['smtp://localhost:2525', { host: 'localhost', port: 2525, tls: 'offered', login: null }],
  ['smtp://ann:x@localhost:2525?tls=off', { tls: 'off' }],
  ['smtp://localhost?tls=required', { tls: 'required' }],
])('loadConfig() reads %s', (text, expected) => {
  expect(parseSmtp(text)).toMatchObject(expected);
});

test.each(Object.keys({ ...webhook, ...email }))(
  '%s is missed where the others are set',
  (name) => {
    const { [name]: _, ...others } = { ...webhook, ...email } as Record<string, string>;
    expect(() => loadConfig(others)).toThrow(new RegExp(`go together: ${name} is missing`));
  },
);

test.each([
  ['GLEANER_OPERATOR_WEBHOOK_URL', 'example.org/hook'],
  ['GLEANER_OPERATOR_WEBHOOK_URL', 'ftp://example.org/secret'],
  ['GLEANER_OPERATOR_WEBHOOK_URL', 'https://ann:secret@example.org/'],
  ['GLEANER_OPERATOR_WEBHOOK_SECRET', 'secret'],
  ['GLEANER_OPERATOR_WEBHOOK_SECRET', 'whsec_c2VjcmV0'],
  ['GLEANER_SMTP_URL', 'mail.example.org'],
  ['GLEANER_SMTP_URL', 'smtp://ann:secret@mail.example.org/path'],
  ['GLEANER_SMTP_URL', 'smtp://ann:secret@mail.example.org?tls=maybe'],
  ['GLEANER_SMTP_URL', 'smtps://ann:secret@mail.example.org?tls=off'],
  ['GLEANER_SMTP_URL', 'smtp://ann:secret@mail.example.org?pool=true'],
  ['GLEANER_EMAIL_FROM', 'Gleaner'],
  ['GLEANER_EMAIL_FROM', 'a@example.org\r\nBcc: b@example.org'],
  ['GLEANER_OPERATOR_EMAIL', 'ann@example.org; bob@example.org'],
  ['GLEANER_OPERATOR_EMAIL', ','],
  ['GLEANER_PRIVATE', 'yes'],
])('loadConfig() rejects a bad %s, names it, and shows no secret: %s', (name, value) => {
  const load = () => loadConfig({ ...webhook, ...email, [name]: value });
  expect(load).toThrow(ConfigError);
  expect(load).toThrow(new RegExp(`^${name}=(?!.*secret@)`));
  if (/SECRET|URL/.test(name)) expect(load).toThrow(`${name}=…: `);
});
