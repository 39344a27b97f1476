import { ActionIcon, Button, type ButtonProps } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';

interface RowButtonProps extends Pick<ButtonProps, 'size' | 'disabled'> {
  /** Label, which names the row: "Remove item 2". */
  label: string;
  onClick: () => void;
}

export const AddButton = ({ label, ...props }: RowButtonProps) => (
  <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} {...props}>
    {label}
  </Button>
);

export const RemoveButton = ({ label, disabled = false, onClick }: RowButtonProps) => (
  <ActionIcon
    variant="subtle"
    color="gray"
    disabled={disabled}
    onClick={onClick}
    aria-label={label}
  >
    <IconTrash size={18} aria-hidden />
  </ActionIcon>
);
