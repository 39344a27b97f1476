import type { ResolvedJobType } from './job-types.ts';

/**
 * Returns the name under which the drift of a job type's pages in a region is counted. Regions that
 * are sites differ in what their pages state.
 */
export function driftPageOf(
  { kind, market }: Pick<ResolvedJobType, 'kind' | 'market'>,
  region: string,
): string {
  return market.regionPolicy === undefined ? kind.page : `${kind.page}/${region}`;
}
