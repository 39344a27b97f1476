import { suggest } from '../../src/contract/suggest.ts';
import type { PathSegment, Template } from './parse.ts';

/** Served path and its parsed template. */
export interface ServedPath {
  path: string;
  template: Template;
}

/** Served path that differs from a requested one in one segment. */
interface NearPath {
  path: string;
  /** The differing segments; '' where one side has none, or for a variable. */
  requested: string;
  served: string;
  /** Number of literals that both have. */
  literalCount: number;
}

/**
 * Returns the served path that is closest to an unknown one: it has one segment more, less, or
 * replaced. Of several, those with the most literals in common count, and their differing segments
 * must be spelled alike. Undefined if there is none.
 */
export function nearestPath(
  segments: readonly string[],
  served: readonly ServedPath[],
): string | undefined {
  const near = served.map((each) => compare(segments, each)).filter((each) => each !== undefined);
  const literalCount = Math.max(...near.map((each) => each.literalCount));
  const nearest = near.filter((each) => each.literalCount === literalCount);
  if (new Set(nearest.map(({ path }) => path)).size === 1) return nearest[0]!.path;
  return nearest.find(({ requested, served: segment }) => {
    const alike = suggest(requested, nearest.map((each) => each.served).filter(Boolean));
    return requested !== '' && segment === alike;
  })?.path;
}

/** Compares two paths. Undefined unless they differ in one segment and have another in common. */
function compare(
  requested: readonly string[],
  { path, template: { segments: served } }: ServedPath,
): NearPath | undefined {
  const shorter = Math.min(requested.length, served.length);
  const longer = Math.max(requested.length, served.length);
  let start = 0;
  while (start < shorter && matches(requested[start]!, served[start]!)) start += 1;
  let end = 0;
  while (end < shorter - start && matches(requested.at(-1 - end)!, served.at(-1 - end)!)) end += 1;
  const commonCount = start + end;
  if (commonCount === 0 || longer - commonCount !== 1) return undefined;
  const common = [...served.slice(0, start), ...served.slice(served.length - end)];
  const differing = commonCount < served.length ? served[start]! : undefined;
  return {
    path,
    requested: commonCount < requested.length ? requested[start]! : '',
    served: differing?.kind === 'literal' ? differing.text : '',
    literalCount: common.filter(({ kind }) => kind === 'literal').length,
  };
}

function matches(requested: string, served: PathSegment): boolean {
  return served.kind === 'literal' ? served.text === requested : requested !== '';
}
