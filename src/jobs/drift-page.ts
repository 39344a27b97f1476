import type { ResolvedJobType } from './job-types.ts';

/**
 * Returns the name under which the drift of a job type's pages is counted. It includes the region
 * if regions are separate sites, whose pages have different fields.
 */
export function driftPageOf(
  { kind, market }: Pick<ResolvedJobType, 'kind' | 'market'>,
  region: string,
): string {
  return market.regionPolicy === undefined ? kind.page : `${kind.page}/${region}`;
}
