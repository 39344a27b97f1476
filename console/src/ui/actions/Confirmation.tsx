import { lazy, Suspense } from 'react';
import { useEver } from '../layout/useEver.ts';
import type { ConfirmModalProps } from './ConfirmModal.tsx';

const ConfirmModal = lazy(async () => ({
  default: (await import('./ConfirmModal.tsx')).ConfirmModal,
}));

/** Dialog that asks before an action. */
export function Confirmation(props: ConfirmModalProps) {
  const isUsed = useEver(props.opened);
  return isUsed ? (
    <Suspense>
      <ConfirmModal {...props} />
    </Suspense>
  ) : null;
}
