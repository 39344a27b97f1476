import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/service/service.ts';

/** A document of the repository. */
export interface Page {
  /** Path from the root folder. */
  path: string;
  text: string;
  /** Code spans in backticks, outside of code blocks. */
  spans: CodeSpan[];
  /** Contents of the code blocks. All of a file that is not Markdown. */
  blocks: string[];
}

/** Code in backticks. */
export interface CodeSpan {
  code: string;
  /** The sentence, or the cell of a table, that contains the span. */
  sentence: string;
}

/** Paths of all files in the repository. */
export const trackedFiles: readonly string[] = execFileSync('git', ['ls-files'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

/**
 * Pages of the documentation, and Markdown files next to code. The changelog describes earlier
 * versions.
 */
export const markdownPages: readonly string[] = trackedFiles.filter(
  (path) => path.endsWith('.md') && !path.startsWith('.changeset/') && path !== 'docs/changelog.md',
);

/** Workflows and forms, whose commands and paths are checked like those of a page. */
export const githubFiles: readonly string[] = trackedFiles.filter((path) =>
  /^\.github\/.*\.yml$/.test(path),
);

/** Reads a file of the repository as a page. */
export function readPage(path: string): Page {
  return parsePage(path, readFileSync(join(root, path), 'utf8'));
}

const codeBlock = /^ *```\w*\n(.*?)^ *```$/gms;

/** Parses a page. A file that is not Markdown is one code block. */
export function parsePage(path: string, text: string): Page {
  if (!path.endsWith('.md')) return { path, text, spans: [], blocks: [text] };
  const blocks = [...text.matchAll(codeBlock)].map(([, contents]) => contents!);
  return { path, text, spans: parseSpans(text.replace(codeBlock, '\n')), blocks };
}

function parseSpans(prose: string): CodeSpan[] {
  const sentences = prose.split(
    /(?<=[.!?])\s+(?=[^a-z])|\n\s*\n|\n(?=\s*[-|#>]|\s*\d+\.)|(?<=\s)\|(?=\s)/,
  );
  return sentences.flatMap((sentence) =>
    [...sentence.matchAll(/`([^`\n]+)`/g)].map(([, code]) => ({ code: code!, sentence })),
  );
}

/** Returns the contents of all code spans and blocks of a page. */
export function codeOf(page: Page): string[] {
  return [...page.spans.map(({ code }) => code), ...page.blocks];
}
