import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { createIo } from '../../src/cli/io.ts';
import { createProgram } from '../../src/cli/run.ts';
import { root } from '../support/service.ts';

let program: Command;
beforeAll(async () => {
  const { stdin, stdout, stderr } = process;
  const { signal } = new AbortController();
  program = await createProgram(createIo({ stdin, stdout, stderr, env: {}, folder: '.', home: '.', signal }));
});

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Returns the command lines of a page: in inline code, and in code blocks at the start of a command. */
function commandLinesOf(page: string): string[] {
  const blocks = [...page.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block]) => block!);
  const starts = /(?:^|\$\(|\| |\|\| |&& |npx |npm run (?:-s )?|^[A-Z_]+=\S+ )gleaner(?: --)? (.+)$/gm;
  return [
    ...blocks.flatMap((block) => [...block.matchAll(starts)]),
    ...inlineOf(page.replace(/^```.*?^```$/gms, '')),
  ].map(([, words]) => words!);
}

/**
 * Returns commands in backticks, in the text of a page or a source file; there, not the contents of template
 * strings.
 */
const inlineOf = (text: string) => [
  ...text.matchAll(/(?:\\`|`(?![^`\n]*\$\{))(?:npm run (?:-s )?)?gleaner(?: --)? ([^`\\\n]+)/g),
];

/**
 * Returns what is wrong with a command line, or undefined: an unknown command, or one without such an option.
 */
function problemOf(line: string): string | undefined {
  const words = line.split(/\s+/);
  let command = program;
  while (command.commands.length > 0) {
    const name = words.shift();
    // A group, such as `gleaner schedule`, or a placeholder.
    if (name === undefined || /^[<-]/.test(name)) return undefined;
    const below = command.commands.find((each) => each.name() === name);
    if (below === undefined) return `no command "${name}" in: gleaner ${line}`;
    command = below;
  }
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  // Options after a pipe or a second command belong to another program.
  const own = line.split(/[|;)&]|\$\(/, 1)[0]!.split(/\s+/);
  const unknown = own.find(
    (word) => /^(?:--[a-z].*|-[a-z])$/.test(word) && word !== '--help' && !known.includes(word),
  );
  return unknown && `no option "${unknown}" in: gleaner ${line}`;
}

describe('each command exists', () => {
  test.each([
    'README.md',
    ...globSync('docs/**/*.md', { cwd: root }),
    ...globSync('.changeset/*.md', { cwd: root }),
  ])('of %s', (page) => {
    expect(commandLinesOf(read(page)).flatMap((line) => problemOf(line) ?? [])).toEqual([]);
  });

  test('of messages and comments', () => {
    const files = globSync('{src,console/src,deploy,bench,sandbox,proto}/**/*.{ts,tsx,mjs,proto,yaml,json}', {
      cwd: root,
    });
    const found = files
      .filter((file) => !file.includes('node_modules') && !file.includes('.test.'))
      .flatMap((file) => inlineOf(read(file)).map(([, words]) => ({ file, problem: problemOf(words!) })));
    expect(found.length).toBeGreaterThan(5);
    expect(found.filter(({ problem }) => problem !== undefined)).toEqual([]);
  });
});
