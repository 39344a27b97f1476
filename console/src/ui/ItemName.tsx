import { Text } from '@mantine/core';
import type { TrackedItem } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { placeText } from '../../../src/present/item.ts';
import { TextLink } from './TextLink.tsx';

interface ItemNameProps {
  item: Pick<TrackedItem, 'market' | 'region' | 'key'>;
  title: string | undefined;
}

/** Title of a tracked item, linked to its page, with its id and marketplace. */
export function ItemName({ item, title }: ItemNameProps) {
  return (
    <>
      <TextLink to={itemPath(item)}>{title ?? item.key}</TextLink>{' '}
      <Text span size="xs" c="dimmed">
        {item.key} on {placeText(item)}
      </Text>
    </>
  );
}

/** Returns the path of an item's page. */
export const itemPath = ({ market, region, key }: Pick<TrackedItem, 'market' | 'region' | 'key'>): string =>
  `/history/${market}/${region}/${encodeURIComponent(key)}`;
