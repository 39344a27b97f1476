import { Badge, NavLink, Text } from '@mantine/core';
import { IconBook } from '@tabler/icons-react';
import { Fragment } from 'react';
import { Link, useLocation } from 'react-router';
import { pendingText, usePending } from '../../ui/jobs/useJobs.ts';
import { basePath } from '../../ui/session/base-path.ts';
import { useSession } from '../../ui/session/session.ts';
import { pageEntries } from './page-entries.ts';

/**
 * Links to the pages of the role, with the number of jobs awaiting approval, and to the API
 * reference.
 */
export function Navigation() {
  const { role } = useSession();
  const { pathname } = useLocation();
  const pending = pendingText(usePending()) ?? '0';
  const active = (to: string) => (to === '/' ? pathname === '/' : pathname.startsWith(to));
  return (
    <>
      {pageEntries[role].map(({ to, label, Icon, heading }) => (
        <Fragment key={to}>
          {heading !== undefined && (
            <Text size="xs" fw={600} c="dimmed" px="sm" pt="sm" pb={2}>
              {heading}
            </Text>
          )}
          <NavLink
            component={Link}
            to={to}
            label={label}
            py={6}
            active={active(to)}
            aria-current={active(to) ? 'page' : undefined}
            leftSection={<Icon size={18} aria-hidden />}
            rightSection={
              to === '/approvals' && pending !== '0' ? (
                <Badge size="sm" color="yellow" aria-label={`${pending} awaiting approval`}>
                  {pending}
                </Badge>
              ) : null
            }
          />
        </Fragment>
      ))}
      <NavLink
        href={`${basePath}/docs`}
        label="API reference"
        py={6}
        mt="sm"
        leftSection={<IconBook size={18} aria-hidden />}
      />
    </>
  );
}
