import type { TrackedItem } from '../../../gen/gleaner/history/v1/history_pb.ts';

/** Returns the path of an item's page. */
export const itemPath = ({ market, region, key }: Pick<TrackedItem, 'market' | 'region' | 'key'>): string =>
  `/history/${market}/${region}/${encodeURIComponent(key)}`;
