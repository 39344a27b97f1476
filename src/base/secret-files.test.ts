import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError, clientEnvironment, loadConfig } from './config.ts';
import { canBeFile } from './secret-files.ts';
import { type SettingName, settings } from './settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const fileWith = (text: string) => {
  const path = join(folder, 'secret');
  writeFileSync(path, text);
  return path;
};
const examples: Partial<Record<SettingName, string>> = {
  MONGODB_URI: 'mongodb://user:pass@127.0.0.1:27017/gleaner',
  NATS_URL: 'nats://token@127.0.0.1:4222',
  GLEANER_API_KEY: 'gl_key-of-a-user',
  GLEANER_BACKUP_TO: 'https://id:key@s3.example/backups',
  GLEANER_BROWSER_URL: 'https://id:key@browser.example:9222',
  GLEANER_LINK_SECRETS: 'x'.repeat(32),
  GLEANER_OPERATOR_KEY: 'key-of-an-operator',
  GLEANER_OPERATOR_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  GLEANER_OPERATOR_WEBHOOK_URL: 'https://hook.example/x',
  GLEANER_S3_URL: 'https://id:key@s3.example/bucket',
  GLEANER_SMTP_URL: 'smtps://user:pass@mail.example',
};
const secretNames = (Object.keys(settings) as SettingName[]).filter(canBeFile);

describe('readSecretFiles()', () => {
  test.each(secretNames)('%s_FILE names a file with the secret', (name) => {
    const others: Partial<Record<SettingName, string>> = {
      ...(name === 'MONGODB_URI' ? { NATS_URL: examples.NATS_URL! } : {}),
      ...(name === 'NATS_URL' ? { MONGODB_URI: examples.MONGODB_URI! } : {}),
      ...(name === 'GLEANER_OPERATOR_WEBHOOK_SECRET'
        ? { GLEANER_OPERATOR_WEBHOOK_URL: examples.GLEANER_OPERATOR_WEBHOOK_URL! }
        : {}),
      ...(name === 'GLEANER_OPERATOR_WEBHOOK_URL'
        ? { GLEANER_OPERATOR_WEBHOOK_SECRET: examples.GLEANER_OPERATOR_WEBHOOK_SECRET! }
        : {}),
      ...(name === 'GLEANER_SMTP_URL'
        ? { GLEANER_EMAIL_FROM: 'a@x.example', GLEANER_OPERATOR_EMAIL: 'b@x.example' }
        : {}),
    };
    const path = fileWith(`${examples[name]!}\n`);
    const config = loadConfig({ ...others, [`${name}_FILE`]: path });
    const { effectiveSettings, secretFiles, environment } = config;
    const direct = loadConfig({ ...others, [name]: examples[name] });
    expect(config).toEqual({ ...direct, effectiveSettings, secretFiles, environment });
    expect(secretFiles).toEqual([{ name, path }]);
    expect(effectiveSettings.find((setting) => setting.name === name)?.value).toBe('(set)');
  });

  test('the command line reads keys from files', () => {
    const path = fileWith('gl_key-of-a-user\r\n');
    expect(clientEnvironment({ GLEANER_API_KEY_FILE: path })).toMatchObject({
      apiKey: 'gl_key-of-a-user',
    });
    expect(clientEnvironment({ GLEANER_OPERATOR_KEY_FILE: path }).operatorKey).toBe(
      'gl_key-of-a-user',
    );
  });

  test('rejects a secret that is set directly and by a file', () => {
    const given = {
      GLEANER_OPERATOR_KEY: 'key-of-an-operator',
      GLEANER_OPERATOR_KEY_FILE: fileWith('other'),
    };
    expect(() => loadConfig(given)).toThrow(
      new ConfigError(
        'GLEANER_OPERATOR_KEY and GLEANER_OPERATOR_KEY_FILE are both set. Remove one of them.',
      ),
    );
  });

  test('an error for a file names the variable and the path, but no contents', () => {
    const missing = join(folder, 'missing');
    const load = (path: string) => () => loadConfig({ GLEANER_OPERATOR_KEY_FILE: path });
    expect(load(missing)).toThrow(
      `GLEANER_OPERATOR_KEY_FILE=${missing}: the file cannot be read (ENOENT)`,
    );
    expect(load(folder)).toThrow(
      `GLEANER_OPERATOR_KEY_FILE=${folder}: the file cannot be read (EISDIR)`,
    );
    expect(load(fileWith('\n'))).toThrow(/^GLEANER_OPERATOR_KEY_FILE=.*: the file is empty$/);
    expect(load(fileWith('short'))).toThrow('GLEANER_OPERATOR_KEY=…: expected 8 to 200');
  });

  test('rejects a file for a setting that is no secret', () => {
    for (const name of ['GLEANER_HTTP_PORT', 'GLEANER_ORIGINS'])
      expect(() => loadConfig({ [`${name}_FILE`]: '/x' })).toThrow(
        `${name}_FILE=/x: only secrets are read from files. Set ${name}.`,
      );
  });
});
