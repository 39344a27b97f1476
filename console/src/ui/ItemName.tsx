import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { TrackedItem } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { placeText } from '../../../src/present/item.ts';
import { itemPath } from './paths.ts';

interface ItemNameProps {
  item: Pick<TrackedItem, 'market' | 'region' | 'key'>;
  title: string | undefined;
}

/** Title of a tracked item, linked to its page, with its id and marketplace. */
export function ItemName({ item, title }: ItemNameProps) {
  return (
    <>
      <Anchor component={Link} to={itemPath(item)} size="sm">
        {title ?? item.key}
      </Anchor>{' '}
      <Text span size="xs" c="dimmed">
        {item.key} on {placeText(item)}
      </Text>
    </>
  );
}
