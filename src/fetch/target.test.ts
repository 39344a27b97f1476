import { expect, test } from 'vitest';
import { problemOfTarget } from './target.ts';

test.each([
  'https://example.com/hook?token=1',
  'http://example.com:8080/',
  'https://203.0.114.9/',
  'https://[2606:4700::1111]/',
  'https://xn--bcher-kva.example/',
])('problemOfTarget() accepts %s', (url) => {
  expect(problemOfTarget(url, false)).toBeNull();
});

test.each([
  ['example.com', /not a URL/],
  ['ftp://example.com/', /http or https/],
  ['javascript:alert(1)', /http or https/],
  ['https://ann@example.com/', /user name or password/],
  ['https://:x@example.com/', /user name or password/],
  ['http://example.com:25/', /port 25/],
  ['http://localhost:8080/', /^localhost is not on the public internet, .*GLEANER_PRIVATE=on$/],
  ['http://LOCALHOST./', /public internet/],
  ['https://hooks.localhost/', /public internet/],
  ['https://printer.local/', /public internet/],
  ['https://metadata.google.internal/', /public internet/],
  ['http://127.1/', /public internet/],
  ['http://2130706433/', /public internet/],
  ['http://169.254.169.254/', /public internet/],
  ['http://[::1]/', /public internet/],
  ['http://[::ffff:192.168.0.1]/', /public internet/],
  [`https://example.com/${'x'.repeat(2_000)}`, /longer than/],
])('problemOfTarget() rejects %s', (url, problem) => {
  expect(problemOfTarget(url, false)).toMatch(problem);
});

test('problemOfTarget() accepts private addresses if allowed', () => {
  expect(problemOfTarget('http://127.0.0.1:81/', true)).toBeNull();
  expect(problemOfTarget('http://localhost/', true)).toBeNull();
  expect(problemOfTarget('ftp://localhost/', true)).toMatch(/http or https/);
});
