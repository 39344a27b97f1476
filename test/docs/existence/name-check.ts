import type { Page } from './page.ts';

/** A kind of name in a page that something in the repository must have. */
export interface NameCheck {
  /** Describes the kind, such as "npm script". */
  kind: string;
  /** Returns the names of this kind in a page. */
  find(page: Page): string[];
  /** Returns true if something has the name. `path` is the path of the page. */
  exists(name: string, path: string): boolean;
}

/** Returns the first group of every match in a text. */
export function matchesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name!);
}

/** Returns a message for each name in a page that nothing has, such as `3: no npm script "x"`. */
export function findProblems(page: Page, checks: readonly NameCheck[]): string[] {
  return checks.flatMap((check) =>
    [...new Set(check.find(page))]
      .filter((name) => !check.exists(name, page.path))
      .map((name) => `${lineOf(page.text, name)}no ${check.kind} "${name}"`),
  );
}

/**
 * Returns the line of a name, as a prefix. Empty for one that is written differently, with a
 * placeholder.
 */
function lineOf(text: string, name: string): string {
  const start = text.indexOf(name);
  return start === -1 ? '' : `${text.slice(0, start).split('\n').length}: `;
}
