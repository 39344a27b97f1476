import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';

/** Time that a search waits for further input, in milliseconds. */
const searchDelayMs = 300;

interface SearchInputProps extends TextInputProps {
  /** Text at first. */
  search: string;
  /** Called with the text when the input pauses. */
  change: (search: string) => void;
}

/**
 * Input of a search that an address keeps. It has its own text, since the address follows a fast
 * input late.
 */
export function SearchInput({ search, change, ...input }: SearchInputProps) {
  const [text, setText] = useState(search);
  const changeLater = useDebouncedCallback(change, searchDelayMs);
  return (
    <TextInput
      leftSection={<IconSearch size={16} aria-hidden />}
      maxLength={200}
      {...input}
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value);
        changeLater(value);
      }}
    />
  );
}
