import { expect, test } from 'vitest';
import { netFault } from './load-page.ts';

test.each([
  [
    'net::ERR_EMPTY_RESPONSE',
    'network',
    'shop.example: the connection closed before the response was complete',
  ],
  ['net::ERR_CONNECTION_TIMED_OUT', 'page_timeout', 'shop.example: the connection timed out'],
  ['net::ERR_CERT_DATE_INVALID', 'network', 'shop.example: TLS: ERR_CERT_DATE_INVALID'],
  ['net::ERR_HTTP2_PROTOCOL_ERROR', 'network', 'shop.example: ERR_HTTP2_PROTOCOL_ERROR'],
])('netFault() converts %s to %s', (text, code, message) => {
  expect(netFault(text, 'https://shop.example/path?x=1')).toMatchObject({ code, message });
});
