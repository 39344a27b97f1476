import type { Command } from 'commander';
import { createIo } from '../../src/cli/io.ts';
import { createProgram } from '../../src/cli/run.ts';

/** Creates the commands of `gleaner`, to compare pages with them. */
export function createDocumentedProgram(): Promise<Command> {
  const { stdin, stdout, stderr } = process;
  const { signal } = new AbortController();
  return createProgram(
    createIo({ stdin, stdout, stderr, env: {}, folder: '.', home: '.', signal }),
  );
}
