import type { DescMethod } from '@bufbuild/protobuf';
import { Button, type ButtonProps, type ElementProps } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { refusalOf } from '../../../../src/contract/permission.ts';
import { useSession } from '../session/session.ts';

// Tooltips are much code, and most keys allow every call.
const ReasonTooltip = lazy(async () => ({
  default: (await import('./ReasonTooltip.tsx')).ReasonTooltip,
}));

export interface CallButtonProps extends ButtonProps, ElementProps<'button', keyof ButtonProps> {
  /** Method that the button calls, directly or after a dialog. */
  call: DescMethod;
  /** Looks like the buttons in a row of a list: small and without a colour. */
  inRow?: boolean;
  /** Icon before the label. */
  icon?: Icon;
  /** Another reason why the caller may not use the button; null if there is none. */
  refusal?: string | null;
}

/**
 * Button of a call. Disabled, with the reason as its tooltip, if the session's key does not allow
 * the call.
 */
export function CallButton(properties: CallButtonProps) {
  const { call, icon: Icon, inRow = false, refusal = null, onClick, ...rest } = properties;
  const reason = useRefusal(call) ?? refusal;
  const look = inRow ? ({ size: 'compact-sm', variant: 'default' } as const) : {};
  const props = {
    ...look,
    ...rest,
    ...(Icon ? { leftSection: <Icon size={16} aria-hidden /> } : {}),
  };
  if (reason === null) return <Button {...props} {...(onClick ? { onClick } : {})} />;
  return <DisabledButton {...props} reason={reason} />;
}

interface DisabledButtonProps extends ButtonProps {
  reason: string;
}

/** Button that shows the reason while it has the pointer, or the focus of the keyboard. */
function DisabledButton({ reason, ...props }: DisabledButtonProps) {
  const [button, setButton] = useState<HTMLButtonElement | null>(null);
  const [isShown, setShown] = useState(false);
  const show = () => setShown(true);
  const hide = () => setShown(false);
  return (
    <>
      <Button
        {...props}
        ref={setButton}
        type="button"
        // A disabled element receives neither the pointer nor the focus.
        data-disabled
        aria-disabled
        aria-description={reason}
        onClick={(event) => event.preventDefault()}
        onMouseEnter={show}
        onMouseLeave={hide}
        onFocus={({ currentTarget }) => currentTarget.matches(':focus-visible') && show()}
        onBlur={hide}
      />
      {isShown && (
        <Suspense>
          <ReasonTooltip reason={reason} target={button} close={hide} />
        </Suspense>
      )}
    </>
  );
}

/** Returns why the session's key does not allow a call; null if it does. */
export function useRefusal(method: DescMethod): string | null {
  return refusalOf(method, useSession());
}
