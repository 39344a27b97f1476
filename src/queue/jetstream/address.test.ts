import { expect, test } from 'vitest';
import { parseAddress } from './connection.ts';

test.each([
  ['nats://127.0.0.1:4222', { servers: ['127.0.0.1:4222'] }],
  ['broker', { servers: ['broker'] }],
  ['nats://a:1, nats://b:2,c:3', { servers: ['a:1', 'b:2', 'c:3'] }],
  ['nats://me:p%40ss@a:1,nats://b:2', { servers: ['a:1', 'b:2'], user: 'me', pass: 'p@ss' }],
  ['tls://secret@[::1]:4222', { servers: ['[::1]:4222'], tls: {}, token: 'secret' }],
])('parseAddress() accepts %s', (text, expected) => {
  expect(parseAddress(text)).toEqual(expected);
});

test.each(['', 'http://a:4222', 'nats://', 'nats://a:4222,,', 'nats://user:secret@a:port'])(
  '%j is refused without repeating it',
  (text) => {
    expect(() => parseAddress(text)).toThrow(
      /^NATS_URL: expected addresses such as nats:\/\/host:4222/,
    );
    expect(() => parseAddress(text)).not.toThrow(/secret/);
  },
);
