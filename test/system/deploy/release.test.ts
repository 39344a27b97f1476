import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { root, run } from '../../support/service/service.ts';

interface Job {
  strategy?: { matrix: { part: string[] } };
  steps: { run?: string }[];
}

/** Returns the commands of a workflow, for each part of its matrix. */
function commandsOf(name: string): string[] {
  const text = readFileSync(join(root, '.github/workflows', name), 'utf8');
  const { jobs } = parse(text) as { jobs: Record<string, Job> };
  return Object.values(jobs).flatMap(({ strategy, steps }) =>
    steps.flatMap(({ run: command = '' }) =>
      (strategy?.matrix.part ?? ['']).map((part) =>
        command.replace(/\$\{\{ matrix\.part \}\}/, part),
      ),
    ),
  );
}

/** Parts of .ci/run that need no files from outside of the project. */
const parts = ['static', 'units', 'system', 'demo'];

describe('workflows', () => {
  test.each(readdirSync(join(root, '.github/workflows')))('%s runs every check', (name) => {
    const commands = commandsOf(name);
    const runs = commands.filter((command) => command.startsWith('bash .ci/run'));
    const expected =
      name === 'ci.yml' ? parts.map((part) => `bash .ci/run ${part}`) : ['bash .ci/run'];
    expect(runs).toEqual(expected);
    expect(commands).toContain('bash .ci/images');
  });

  test.each(readdirSync(join(root, '.github/workflows')))(
    '%s runs npm scripts that exist',
    (name) => {
      for (const command of commandsOf(name))
        for (const [, script] of command.matchAll(/npm run (?:--silent )?([\w:-]+)/g))
          expect(manifest.scripts).toHaveProperty(script!);
    },
  );
});

test('the bill of materials lists the packages that run, and no development package', async () => {
  const [program, ...parameters] = manifest.scripts['release:sbom'].split(' ') as [
    string,
    ...string[],
  ];
  const { code, stdout, stderr } = await run(program, parameters);
  expect(code, stderr).toBe(0);
  const { bomFormat, components } = JSON.parse(stdout) as {
    bomFormat: string;
    components: { name: string; version: string }[];
  };
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  expect(bomFormat).toBe('CycloneDX');
  for (const [name, version] of Object.entries(manifest.dependencies))
    expect(listed).toContain(`${name}@${version}`);
  expect(listed).not.toContain(`vitest@${manifest.devDependencies.vitest}`);
});

test('each pending change names the package', async () => {
  const files = readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md'));
  for (const name of files) {
    const text = readFileSync(join(root, '.changeset', name), 'utf8');
    expect(text).toMatch(/^---\n"gleaner": (patch|minor|major)\n---\n\n\S/);
  }
});
