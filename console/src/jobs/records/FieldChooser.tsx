import { Button } from '@mantine/core';
import { IconColumns } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { usePopup } from '../../ui/popup/usePopup.ts';
import type { FieldChooserProps } from './FieldsPopover.tsx';

const FieldsPopover = lazy(async () => ({
  default: (await import('./FieldsPopover.tsx')).FieldsPopover,
}));

/** Button of a popover that adds fields to the table, with the fill rate of each. */
export function FieldChooser(chooser: FieldChooserProps) {
  const { buttonProps, popup } = usePopup('dialog');
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconColumns size={16} aria-hidden />}
        {...buttonProps}
      >
        Columns
      </Button>
      {popup && (
        <Suspense>
          <FieldsPopover popup={popup} {...chooser} />
        </Suspense>
      )}
    </>
  );
}
