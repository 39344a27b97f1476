import { expect, test } from 'vitest';
import { Fault } from '../contract/fault.ts';
import { networkFault } from './network-fault.ts';

const coded = (code: string) => Object.assign(new Error(`thrown with ${code}`), { code });

test.each([
  ['ECONNREFUSED', 'network', 'refused'],
  ['ECONNRESET', 'network', 'reset'],
  ['ENOTFOUND', 'network', 'does not exist'],
  ['EAI_AGAIN', 'network', 'could not be resolved'],
  ['UND_ERR_SOCKET', 'network', 'before the response was complete'],
  ['CERT_HAS_EXPIRED', 'network', 'TLS: thrown with CERT_HAS_EXPIRED'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'network', 'TLS: '],
  ['HPE_INVALID_CONSTANT', 'network', '(HPE_INVALID_CONSTANT)'],
  ['UND_ERR_CONNECT_TIMEOUT', 'page_timeout', 'connection timed out'],
  ['UND_ERR_HEADERS_TIMEOUT', 'page_timeout', 'did not start in time'],
  ['UND_ERR_BODY_TIMEOUT', 'page_timeout', 'stalled'],
  ['UND_ERR_HEADERS_OVERFLOW', 'page_too_large', 'headers'],
])('networkFault() converts %s to %s', (code, name, words) => {
  const fault = networkFault(coded(code), 'mkta/sg');
  expect(fault).toMatchObject({ code: name, message: expect.stringContaining(words) });
  expect(fault.message).toMatch(/^mkta\/sg: /);
});

test('networkFault() unwraps aggregate errors and returns faults unchanged', () => {
  expect(
    networkFault(new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]), 'x').message,
  ).toContain('refused');
  const fault = new Fault('address_refused', 'no');
  expect(networkFault(fault, 'x')).toBe(fault);
  expect(networkFault(new Error('outer', { cause: fault }), 'x')).toBe(fault);
});
