import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';
import { attribute, ownAttribute, schemaUrl } from './attributes.ts';

const require = createRequire(import.meta.url);

test('attributes are those of the pinned conventions, none of them deprecated', () => {
  const constants = new Map<unknown, string>(
    Object.entries(conventions).map(([constant, value]) => [value, constant]),
  );
  const folder = require.resolve('@opentelemetry/semantic-conventions').replace(/[^/]+$/, '');
  const declarations = ['stable', 'experimental'].map((kind) =>
    readFileSync(`${folder}${kind}_attributes.d.cts`, 'utf8'),
  );
  for (const name of Object.values(attribute)) {
    const constant = constants.get(name);
    expect(constant, name).toBeDefined();
    const [declared] = declarations.flatMap(
      (text) => new RegExp(`/\\*\\*(?:(?!/\\*\\*)[^])*declare const ${constant}:`).exec(text) ?? [],
    );
    expect(declared, name).toBeDefined();
    expect(declared, name).not.toContain('@deprecated');
  }
  for (const name of Object.values(ownAttribute)) expect(constants.has(name), name).toBe(false);
});

test('the schema is that of the pinned conventions', () => {
  const folder = require.resolve('@opentelemetry/semantic-conventions').replace(/dist\/[^/]+$/, '');
  const { version } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  expect(schemaUrl).toBe(`https://opentelemetry.io/schemas/${version}`);
});
