import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/service.ts';
import { differences, examplesOf, remember, runExample } from './example.ts';
import { type Place, startPlace } from './place.ts';

const folder = join(root, 'docs');
const kinds = readdirSync(join(folder, 'kinds')).filter((name) => name.endsWith('.md'));
const pages = ['jobs.md', ...kinds.map((name) => join('kinds', name))];

let place: Place;
beforeAll(async () => {
  place = await startPlace();
});
afterAll(() => place?.stop());

describe('the examples of', () => {
  test.each(pages)('docs/%s work, and answer as the page shows', async (name) => {
    const examples = examplesOf(readFileSync(join(folder, name), 'utf8'));
    expect(examples.length).toBeGreaterThan(1);
    const variables = await place.variables();
    for (const example of examples) {
      const printed = await runExample(example, variables);
      remember(printed, variables);
      if (example.answer === null) continue;
      expect(differences(JSON.parse(example.answer), printed), example.command).toEqual([]);
    }
  });
});
