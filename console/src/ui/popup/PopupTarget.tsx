import { type Ref, useImperativeHandle } from 'react';

interface PopupTargetProps {
  button: HTMLButtonElement;
  ref?: Ref<HTMLButtonElement>;
}

/** Target of a menu or a popover: a button that is mounted elsewhere. */
export function PopupTarget({ button, ref }: PopupTargetProps) {
  useImperativeHandle(ref, () => button, [button]);
  return null;
}
