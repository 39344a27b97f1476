import { Text } from '@mantine/core';
import type { TrackedItem } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { pathPart } from '../../../src/contract/path-part.ts';
import { placeText, type ShownItemPlace } from '../../../src/present/item.ts';
import { TextLink } from './TextLink.tsx';

interface ItemNameProps {
  item: ShownItemPlace & Pick<TrackedItem, 'key'>;
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
export function itemPath({
  market,
  region,
  key,
  store = '',
}: ShownItemPlace & Pick<TrackedItem, 'key'>): string {
  const path = `/history/${market}/${region}/${pathPart(key)}`;
  return store === '' ? path : `${path}?store=${pathPart(store)}`;
}
