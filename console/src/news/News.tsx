import { ActionIcon, Indicator, Menu, Text } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { Moment } from '../time/Moment.tsx';
import type { NewsEvent } from './events.ts';
import { useNews } from './useNews.ts';

/** Maximum events in the menu. */
const maxEvents = 15;

/** Bell with what happened since the last visit. Opening it marks the events as seen. */
export function News() {
  const { events, markSeen } = useNews();
  const [shown, setShown] = useState<NewsEvent[] | null>(null);
  const change = (opened: boolean) => {
    setShown(opened ? events : null);
    if (opened) markSeen();
  };
  const count = events.length;
  const label = count === 0 ? 'Nothing new' : `${count} new since your last visit`;
  return (
    <Menu position="bottom-end" withinPortal opened={shown !== null} onChange={change} width={340}>
      <Indicator label={count > 99 ? '99+' : count} size={16} disabled={count === 0} color="red.9">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={label}>
            <IconBell size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
      </Indicator>
      <Menu.Dropdown>
        <Menu.Label>Since your last visit</Menu.Label>
        {shown?.length === 0 && <Menu.Item disabled>Nothing new</Menu.Item>}
        {shown?.slice(0, maxEvents).map(({ key, title, detail, at, to }) => (
          <Menu.Item key={key} component={Link} to={to}>
            <Text size="sm">{title}</Text>
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {detail} · <Moment at={at} relative />
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
