import { expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { parseOrigins } from './origins.ts';
import { diagnoseSetup } from './setup-checks.ts';

const config = loadConfig({});

test('diagnoseSetup() names the settings that a service in use lacks', () => {
  const problems = diagnoseSetup(config);
  expect(problems.map(({ name, state, guide }) => [name, state, guide])).toEqual([
    ['origins', 'warning', 'fetching#point-the-service-at-real-sites'],
    ['backup', 'warning', 'backups#scheduled-backups'],
    ['public address', 'warning', 'operate#behind-a-reverse-proxy'],
    ['messages to operators', 'warning', 'delivery#notify-operators'],
  ]);
});

test('diagnoseSetup() shows what is set up', () => {
  const origins = parseOrigins(JSON.stringify({ mktb: {} }));
  const operatorWebhook = { url: 'https://ops.example', secret: 'x' };
  const complete = diagnoseSetup({
    ...config,
    origins,
    backupTo: '/mnt/backup',
    publicUrl: 'https://gleaner.example',
    notices: { ...config.notices, operatorWebhook },
  });
  expect(complete.map(({ state, message, remedy }) => [state, message, remedy])).toEqual([
    ['ok', 'mktb', ''],
    ['ok', 'daily to /mnt/backup', ''],
    ['ok', 'https://gleaner.example', ''],
    ['ok', 'https://ops.example', ''],
  ]);
});

test('diagnoseSetup() shows no secret of a bucket or a webhook', () => {
  const secrets = {
    ...config,
    backupTo: 'https://key:secret@s3.example/backups',
    notices: {
      ...config.notices,
      operatorWebhook: { url: 'https://chat.example/hooks/secret', secret: 'x' },
    },
  };
  const messages = diagnoseSetup(secrets).map(({ message }) => message);
  expect(messages).toEqual(
    expect.arrayContaining(['daily to https://s3.example', 'https://chat.example']),
  );
});

test('diagnoseSetup() does not ask for backups of the distributed stack', () => {
  const names = diagnoseSetup({ ...config, mongoUri: 'mongodb://127.0.0.1:1/' }).map(
    ({ name }) => name,
  );
  expect(names).not.toContain('backup');
});
