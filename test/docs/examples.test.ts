import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/service.ts';
import { differences, examplesOf, remember, runExample } from './example.ts';
import { type Place, startPlace } from './place.ts';

const folder = join(root, 'docs/kinds');
const pages = readdirSync(folder).filter((name) => name.endsWith('.md'));

let place: Place;
beforeAll(async () => {
  place = await startPlace();
});
afterAll(() => place?.stop());

describe('the examples of', () => {
  test.each(pages)('docs/kinds/%s work, and answer as the page shows', async (name) => {
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
