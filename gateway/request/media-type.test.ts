import { describe, expect, test } from 'vitest';
import { requireForm, requireJson } from './body.ts';

const unsupported = (message: string) =>
  expect.objectContaining({ code: 'unsupported_media', message });

describe('requireJson()', () => {
  test.each([
    'application/json',
    ' Application/JSON ',
    'application/json;charset=utf-8',
    'application/json; a=b; charset = "UTF8" ',
    'application/json; charset=',
    'application/json; xcharset=latin1',
    'application/json; charset=not valid',
    `application/json; charset=${'\t'.repeat(16_000)}=\tr`,
    'application/vnd.shop+json',
  ])('accepts %j', (contentType) => {
    expect(() => requireJson(contentType)).not.toThrow();
  });

  test.each([
    '',
    'text/json',
    'xapplication/json',
    'application/jsonx',
    'application/+json',
    'application/json charset=utf-8',
    'application/json; charset=utf-16',
    'application/json; charset=utf-88',
    'application/json; charset=xutf-8',
    'application/json; a=b; charset = "latin1" ',
    'application/json;   charset   =   latin1   ',
  ])('refuses %j', (contentType) => {
    const message = `Content-Type ${contentType} is not supported: send application/json`;
    expect(() => requireJson(contentType)).toThrow(unsupported(message));
  });

  test('refuses a body without a type', () => {
    const message = 'Content-Type is missing: send application/json';
    expect(() => requireJson(undefined)).toThrow(unsupported(message));
  });
});

describe('requireForm()', () => {
  test.each([
    'multipart/form-data; boundary=x',
    ' Multipart/Form-Data',
    'multipart/form-data  ;boundary=x',
  ])('accepts %j', (contentType) => {
    expect(() => requireForm(contentType)).not.toThrow();
  });

  test.each([
    '',
    'xmultipart/form-data',
    'multipart/form-datax',
    'multipart/form-data x',
    'multipart/mixed',
  ])('refuses %j', (contentType) => {
    const message = `Content-Type ${contentType} is not supported: send multipart/form-data`;
    expect(() => requireForm(contentType)).toThrow(unsupported(message));
  });

  test('refuses a body without a type', () => {
    const message = 'Content-Type is missing: send multipart/form-data';
    expect(() => requireForm(undefined)).toThrow(unsupported(message));
  });
});
