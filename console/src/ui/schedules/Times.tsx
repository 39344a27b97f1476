import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { List } from '@mantine/core';
import { Moment } from '../time/Moment.tsx';

/** Times of coming runs. */
export function Times({ times }: { times: readonly Timestamp[] }) {
  return (
    <List size="sm">
      {times.map((time) => (
        <List.Item key={String(time.seconds)}>
          <Moment at={time} />
        </List.Item>
      ))}
    </List>
  );
}
