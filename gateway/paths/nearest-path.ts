import { suggest } from '../../src/contract/suggest.ts';
import type { PathSegment, Template } from './parse.ts';

/** Served path and its parsed template. */
export interface ServedPath {
  path: string;
  template: Template;
}

/** Served path that differs from a requested one in one run of segments. */
interface NearPath {
  path: string;
  /** The differing segments; '' where one side has none, or for a variable. */
  requested: string;
  served: string;
  /** Segments of the longer run. */
  differingCount: number;
  /** Number of literals that both have. */
  literalCount: number;
}

/** Maximum number of segments that differ, and literals that several paths or segments require. */
const maxDiffering = 2;
const minLiterals = 2;
/** Paths that nearestPaths() returns; more would be no hint. */
const maxPaths = 6;

/**
 * Returns the served paths that are closest to an unknown one: up to two segments beside each other
 * are missing, added, or replaced. Of those with the most literals in common and then the fewest
 * such segments, the one that is spelled alike is returned alone. Empty if there is none,
 * more than six, or several with a single literal in common.
 */
export function nearestPaths(
  segments: readonly string[],
  served: readonly ServedPath[],
): readonly string[] {
  const near = served.map((each) => compare(segments, each)).filter((each) => each !== undefined);
  const literalCount = Math.max(...near.map((each) => each.literalCount));
  const closest = near.filter((each) => each.literalCount === literalCount);
  const differingCount = Math.min(...closest.map((each) => each.differingCount));
  const nearest = closest.filter((each) => each.differingCount === differingCount);
  const candidates = nearest.map((each) => each.served).filter(Boolean);
  const alike = nearest.find(
    ({ requested, served: segment }) =>
      requested !== '' && segment === suggest(requested, candidates),
  );
  if (alike !== undefined) return [alike.path];
  const paths = new Set(nearest.map(({ path }) => path));
  const isClose = paths.size === 1 || literalCount >= minLiterals;
  return isClose && paths.size <= maxPaths ? [...paths] : [];
}

/** Compares two paths. Undefined unless they differ in few segments and have others in common. */
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
  const differingCount = longer - start - end;
  if (start + end === 0 || differingCount === 0 || differingCount > maxDiffering) return undefined;
  const common = [...served.slice(0, start), ...served.slice(served.length - end)];
  const literalCount = common.filter(({ kind }) => kind === 'literal').length;
  if (differingCount > 1 && literalCount < minLiterals) return undefined;
  return {
    path,
    requested: requested.slice(start, requested.length - end).join('/'),
    served: served
      .slice(start, served.length - end)
      .map((segment) => (segment.kind === 'literal' ? segment.text : ''))
      .join('/'),
    differingCount,
    literalCount,
  };
}

function matches(requested: string, served: PathSegment): boolean {
  if (served.kind === 'literal') return served.text === requested;
  return requested !== '';
}
