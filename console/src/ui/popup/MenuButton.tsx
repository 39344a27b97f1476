import { useMergedRef } from '@mantine/hooks';
import { type ComponentProps, cloneElement, lazy, type ReactElement, Suspense } from 'react';
import type { MenuAction } from './MenuDropdown.tsx';
import { usePopup } from './usePopup.ts';

const MenuDropdown = lazy(async () => ({
  default: (await import('./MenuDropdown.tsx')).MenuDropdown,
}));

interface MenuButtonProps {
  /** Heading above the actions. */
  heading?: string;
  actions: readonly MenuAction[];
  children: ReactElement<ComponentProps<'button'>>;
}

/** Button of a menu, whose code is loaded with its first use. */
export function MenuButton({ heading, actions, children }: MenuButtonProps) {
  const { buttonProps, popup } = usePopup('menu');
  const ref = useMergedRef(buttonProps.ref, children.props.ref);
  return (
    <>
      {cloneElement(children, { ...buttonProps, ref })}
      {popup && (
        <Suspense>
          <MenuDropdown popup={popup} heading={heading} actions={actions} />
        </Suspense>
      )}
    </>
  );
}
