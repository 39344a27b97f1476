import { type ComponentProps, useId, useState } from 'react';

/** Menu or popover of a button. */
export interface Popup {
  /** Id of the button, from which that of the dropdown is derived. */
  id: string;
  button: HTMLButtonElement;
  opened: boolean;
  change: (opened: boolean) => void;
}

/**
 * Returns the properties of a button with a menu or a dialog, and the popup once it is used. The
 * code of the popup is loaded then and mounted beside the button, which keeps the focus.
 */
export function usePopup(type: 'menu' | 'dialog') {
  const id = useId();
  const [button, setButton] = useState<HTMLButtonElement | null>(null);
  const [opened, setOpened] = useState(false);
  const [isUsed, setUsed] = useState(false);
  const buttonProps = {
    ref: setButton,
    id,
    'aria-haspopup': type,
    'aria-expanded': opened,
    'aria-controls': opened ? `${id}-dropdown` : undefined,
    onClick: () => {
      setUsed(true);
      setOpened(!opened);
    },
  } satisfies ComponentProps<'button'>;
  const popup: Popup | null =
    isUsed && button !== null ? { id, button, opened, change: setOpened } : null;
  return { buttonProps, popup };
}
