import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/service/service.ts';
import { githubFiles, trackedFiles } from './existence/page.ts';
import { createDocumentedProgram } from './program.ts';

/** All pages, and the pending entries of the changelog. */
const pages = [...trackedFiles.filter((path) => path.endsWith('.md')), ...githubFiles];

let program: Command;
beforeAll(async () => {
  program = await createDocumentedProgram();
});

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/**
 * Returns the command lines of a page: in inline code, and in code blocks at the start of a
 * command.
 */
function commandLinesOf(page: string): string[] {
  const blocks = [...page.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block]) => block!);
  const starts =
    /(?:^|\$\(|\| |\|\| |&& |npx |npm run (?:-s )?|^[A-Z_]+=\S+ )gleaner(?: --)? (.+)$/gm;
  return [
    ...blocks.flatMap((block) => [...block.matchAll(starts)]),
    ...inlineOf(page.replace(/^```.*?^```$/gms, '')),
  ].map(([, words]) => words!);
}

/**
 * Returns commands in backticks, in the text of a page or a source file; there, not the contents of
 * template strings.
 */
const inlineOf = (text: string) => [
  ...text.matchAll(/(?:\\`|`(?![^`\n]*\$\{))(?:npm run (?:-s )?)?gleaner(?: --)? ([^`\\\n]+)/g),
];

/**
 * Returns what is wrong with a command line, or undefined: an unknown command, or one without such
 * an option.
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
  test.each(pages)('of %s', (page) => {
    expect(commandLinesOf(read(page)).flatMap((line) => problemOf(line) ?? [])).toEqual([]);
  });

  test('of messages and comments', () => {
    const files = trackedFiles.filter((file) =>
      matchesGlob(
        file,
        '{src,console/src,deploy,bench,sandbox,proto}/**/*.{ts,tsx,mjs,proto,yaml,json}',
      ),
    );
    const found = files
      .filter((file) => !file.includes('.test.'))
      .flatMap((file) =>
        inlineOf(read(file)).map(([, words]) => ({ file, problem: problemOf(words!) })),
      );
    expect(found.length).toBeGreaterThan(5);
    expect(found.filter(({ problem }) => problem !== undefined)).toEqual([]);
  });
});
