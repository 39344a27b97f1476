import { expect, test } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';

test('everything has a default', () => {
  const config = loadConfig({});
  expect(config).toMatchObject({
    httpPort: 8080,
    grpcPort: 9090,
    approval: true,
    mongoUri: null,
    s3Url: null,
  });
  expect(config.workingHours).toEqual({ startMinute: 480, endMinute: 1080, offsetMinutes: 480 });
  expect(config.retrieveCache).toEqual({ processingMs: 120_000, completedMs: 86_400_000 });
});

test.each([
  ['GLEANER_HTTP_PORT', '80a'],
  ['GLEANER_GRPC_PORT', '70000'],
  ['GLEANER_PUBLIC_URL', 'example.org'],
  ['GLEANER_APPROVAL', 'yes'],
  ['GLEANER_WORKING_HOURS', '8 to 6'],
  ['GLEANER_RETRIEVE_CACHE', '120'],
  ['GLEANER_PRICES', '{"variant_sold": -1}'],
  ['GLEANER_PRICES', '[1]'],
  ['GLEANER_OPERATOR_KEY', 'short'],
  ['GLEANER_ORIGINS', '/nonexistent/origins.json'],
  ['GLEANER_LOG_LEVEL', 'loud'],
  ['GLEANER_BROWSER', '/nonexistent/chromium'],
  ['GLEANER_BROWSER_PAGES', '0'],
  ['GLEANER_BROWSER_MEMORY', '16'],
  ['GLEANER_LINK_SECRETS', 'short'],
])('a bad %s stops the start with a message that names it', (name, value) => {
  expect(() => loadConfig({ [name]: value })).toThrow(ConfigError);
  expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`^${name}=`));
});

test('one engine address without the other is refused', () => {
  expect(() => loadConfig({ NATS_URL: 'nats://127.0.0.1:4222' })).toThrow(/MONGODB_URI is missing/);
  expect(() => loadConfig({ MONGODB_URI: 'mongodb://127.0.0.1' })).toThrow(/NATS_URL is missing/);
});
