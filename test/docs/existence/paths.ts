import { spawnSync } from 'node:child_process';
import { matchesGlob, posix } from 'node:path';
import { root } from '../../support/service/service.ts';
import type { NameCheck } from './name-check.ts';
import { codeOf, trackedFiles } from './page.ts';

/** Files and folders of the repository. */
const tracked: ReadonlySet<string> = new Set(
  trackedFiles.flatMap((path) => [path, ...foldersOf(path)]),
);
const topFolders = new Set(
  trackedFiles.filter((path) => path.includes('/')).map((path) => path.split('/')[0]!),
);
const fileNames = new Set(trackedFiles.map((path) => posix.basename(path)));

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}

/**
 * Paths of the repository in code: those that start with a folder of its root, and names of source
 * files. They may have globs, braces, placeholders such as `<kind>`, and the number of a line.
 */
export const paths: NameCheck = {
  kind: 'file or folder',
  find: (page) =>
    codeOf(page)
      .flatMap(wordsOf)
      .filter((word) => isPath(word, posix.dirname(page.path))),
  exists: (name, page) => expandBraces(name).every((path) => isFile(path, page) || isIgnored(path)),
};

/** Returns the words of a command or a text that can be paths, with `*` for a placeholder. */
function wordsOf(code: string): string[] {
  // A relative import in an example is of a file that the reader has.
  const own = code.replaceAll(/\bfrom '\.[^']*'/g, '');
  const words = own.replaceAll(/<[^<>\s]+>/g, '*').split(/[\s"'`()|;=]+|,(?![^{}]*\})/);
  return words.map((word) =>
    word
      .replace(/^(?:\$PWD|\.)\//, '')
      .replace(/:\d+$/, '')
      // The extra of a Python package.
      .replace(/\[[a-z]+\]$/, '')
      .replace(/[.:/]+$/, ''),
  );
}

/**
 * Returns true for a path from the root folder or from the folder of the page, and for the name of
 * a source.
 */
function isPath(word: string, folder: string): boolean {
  if (!/^[\w.@*{},[\]/-]+$/.test(word)) return false;
  if (!word.includes('/')) return /[\w*]\.(?:tsx?|mjs|proto|sh)$/.test(word);
  if (word.startsWith('/')) return false;
  const first = word.split('/')[0]!;
  return topFolders.has(first) || first === '..' || tracked.has(posix.join(folder, first));
}

function expandBraces(path: string): string[] {
  const [, before, choices, after] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(path) ?? [];
  if (choices === undefined) return [path];
  return choices.split(',').flatMap((choice) => expandBraces(`${before}${choice}${after}`));
}

/**
 * Returns true for a path from the root or the folder of the page, and for the name of a file
 * alone.
 */
function isFile(path: string, page: string): boolean {
  const candidates = [path, posix.join(posix.dirname(page), path)];
  if (candidates.some((candidate) => tracked.has(candidate))) return true;
  if (!path.includes('/')) return [...fileNames].some((name) => matchesGlob(name, path));
  return path.includes('*') && [...tracked].some((file) => matchesGlob(file, path));
}

/** Returns true for a file that a build or a test creates. */
const isIgnored = (path: string) =>
  spawnSync('git', ['check-ignore', '-q', path], { cwd: root }).status === 0;
