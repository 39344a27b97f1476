import { createContext, useContext } from 'react';
import type { FieldTexts } from '../ui/request/body.ts';

/** Options that the user entered on the submit page. Every way to submit shares them. */
export interface OptionTexts {
  texts: FieldTexts;
  change: (name: string, text: string) => void;
  /** Query of a submit with the options; null while one of them is invalid. */
  query: string | null;
  /** Schedule that the request is saved to; '' for a request that is submitted. */
  scheduleId: string;
}

export const OptionTextsContext = createContext<OptionTexts>({
  texts: {},
  change: () => {},
  query: '',
  scheduleId: '',
});

/** Returns the options of the submit page. */
export const useOptionTexts = (): OptionTexts => useContext(OptionTextsContext);
