import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/service/service.ts';
import { differences, parseExamples, remember, runExample, runShell } from './example.ts';
import { type Place, startPlace } from './place.ts';

const folder = join(root, 'docs');
const kinds = readdirSync(join(folder, 'kinds')).filter((name) => name.endsWith('.md'));
/** Pages whose examples print JSON. */
const pages = [
  'freshness.md',
  'kept-pages.md',
  'quotes.md',
  'schedules.md',
  'formats.md',
  'history.md',
  'jobs.md',
  'quality.md',
  'retention.md',
  'submit-options.md',
  'delivery.md',
  'sites.md',
  ...kinds.map((name) => join('kinds', name)),
];
/**
 * Pages whose examples are tested as one session: here, in cli.test.ts, in quick-start.test.ts, in sandbox.test.ts, or
 * in test/cli/dev.test.ts.
 */
const sessions = ['../README.md', 'api.md', 'cli.md', 'grpc.md', 'quick-start.md', 'sandbox.md'];

let place: Place;
beforeAll(async () => {
  place = await startPlace();
});
afterAll(() => place?.stop());

describe('the examples', () => {
  test.each(pages)(
    'work in docs/%s, and return responses of the documented shape',
    async (name) => {
      const examples = parseExamples(readFileSync(join(folder, name), 'utf8'));
      expect(examples.length).toBeGreaterThan(0);
      const variables = await place.variables();
      for (const example of examples) {
        const printed = await runExample(example, variables);
        remember(printed, variables);
        if (example.response === null) continue;
        expect(differences(JSON.parse(example.response), printed), example.command).toEqual([]);
      }
    },
  );
});

test('the examples of docs/api.md work as one session', async () => {
  const commands = parseExamples(readFileSync(join(folder, 'api.md'), 'utf8')).map(
    ({ command }) => command,
  );
  const printed = await runShell(commands.join('echo; echo "=="\n'), await place.variables());
  const [submit = '', wait = '', cached = '', sizes = ''] = printed.split(/^==$/m);
  expect(submit).toMatch(/^location: \/v1\/mkta\/get_pc\/retrieve\/\d+\r$/m);
  expect(JSON.parse(wait)).toMatchObject({ status: 'completed' });
  expect(cached).toContain('HTTP/1.1 304 Not Modified');
  const [compressed, plain] = sizes.trim().split('\n').map(Number.parseFloat);
  expect(compressed).toBeLessThan(plain!);
});

test('every page with shell examples is tested', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  const withExamples = ['../README.md', ...files].filter(
    (name) => parseExamples(readFileSync(join(folder, name), 'utf8')).length > 0,
  );
  expect(withExamples.toSorted()).toEqual([...pages, ...sessions].toSorted());
});
