import { describe, expect, test } from 'vitest';
import { settingsOf } from './profiles.ts';

const unset = { url: null, apiKey: null, operatorKey: null };
const environment = { ...unset, profile: null, configFile: '/nowhere', dotEnv: unset };
const stored = { profiles: { default: { url: 'https://corp.example', apiKey: 'stored' } } };
const foreign = { url: 'https://evil.example', apiKey: null, operatorKey: null };
const empty = { profiles: {} };

describe('settingsOf()', () => {
  test('sends the key of a profile to the address of the profile only', () => {
    expect(settingsOf({}, environment, stored)).toMatchObject({
      url: { value: 'https://corp.example', from: 'profile' },
      apiKey: { value: 'stored', from: 'profile' },
    });
    const other = 'https://other.example';
    for (const [flags, variables] of [
      [{ url: other }, environment],
      [{}, { ...environment, url: other }],
    ] as const)
      expect(settingsOf(flags, variables, stored)).toMatchObject({
        url: { value: other },
        apiKey: { value: null, from: 'none' },
      });
  });

  test('keeps the key of a profile for the same address from another source', () => {
    expect(settingsOf({ url: 'https://corp.example/' }, environment, stored).apiKey.value).toBe(
      'stored',
    );
  });

  test('keeps the key of a profile without an address for the default address', () => {
    const file = { profiles: { default: { apiKey: 'stored' } } };
    expect(settingsOf({}, environment, file).apiKey.value).toBe('stored');
    expect(
      settingsOf({}, { ...environment, url: 'https://other.example' }, file).apiKey.value,
    ).toBeNull();
  });

  test.each([
    ['the key of a profile', {}, {}, stored, 'https://corp.example', 'stored'],
    [
      'the key of a profile without an address',
      {},
      {},
      { profiles: { default: { apiKey: 'stored' } } },
      'http://127.0.0.1:8080',
      'stored',
    ],
    [
      'the key of the environment',
      {},
      { apiKey: 'variable' },
      empty,
      'http://127.0.0.1:8080',
      'variable',
    ],
    ['the key of a flag', { key: 'flag' }, {}, empty, 'http://127.0.0.1:8080', 'flag'],
  ])(
    'does not send %s to the address in a .env file',
    (_name, flags, variables, file, url, key) => {
      const settings = settingsOf(flags, { ...environment, ...variables, dotEnv: foreign }, file);
      expect(settings.url.value).toBe(url);
      expect(settings.apiKey.value).toBe(key);
    },
  );

  test('uses the address and the keys of a .env file if nothing else is set', () => {
    const dotEnv = { url: 'https://folder.example', apiKey: 'user', operatorKey: 'operator' };
    expect(settingsOf({}, { ...environment, dotEnv }, empty)).toEqual({
      profile: 'default',
      url: { value: 'https://folder.example', from: '.env' },
      apiKey: { value: 'user', from: '.env' },
      operatorKey: { value: 'operator', from: '.env' },
    });
    const chosen = settingsOf({ url: 'https://other.example' }, { ...environment, dotEnv }, empty);
    expect(chosen).toMatchObject({
      url: { from: 'flag' },
      apiKey: { value: null },
      operatorKey: { value: null },
    });
  });

  test("sends the operator's key of a service's .env file to this machine", () => {
    const dotEnv = { ...unset, operatorKey: 'operator' };
    const settings = settingsOf({}, { ...environment, apiKey: 'user', dotEnv }, empty);
    expect(settings).toMatchObject({
      url: { from: 'default' },
      operatorKey: { value: 'operator' },
    });
  });
});
