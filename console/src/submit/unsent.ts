import { useEffect, useState } from 'react';
import { useSession } from '../ui/session/session.ts';

/** Inputs of the last form that was not submitted, by their names. */
let unsent: { form: string; inputs: Map<string, unknown> } = { form: '', inputs: new Map() };

/** Returns the name of a form of the session's account; '' for one whose inputs are not kept. */
export function useFormName(path: string): string {
  const { userId, isTest } = useSession();
  // As of the first rendering: the form may render once more after its session has ended.
  const [name] = useState(path === '' ? '' : `${userId} ${isTest ? 'test' : 'live'} ${path}`);
  return name;
}

/** Returns an input that a form contained when it was left; undefined if none is kept. */
export function keptInput<Value>(form: string, name: string): Value | undefined {
  if (form !== '' && unsent.form === form) return unsent.inputs.get(name) as Value;
  return undefined;
}

/**
 * Keeps an input of a form until the form is submitted, or the page is loaded again: it is left
 * also when a session ends.
 */
export function useKeepInput(form: string, name: string, value: unknown): void {
  useEffect(() => {
    if (form === '') return;
    if (unsent.form !== form) unsent = { form, inputs: new Map() };
    unsent.inputs.set(name, value);
  }, [form, name, value]);
}

/** State of an input of a form, which is kept as useKeepInput() does. */
export function useKeptState<Value>(form: string, name: string, initial: () => Value) {
  const state = useState(() => keptInput<Value>(form, name) ?? initial());
  useKeepInput(form, name, state[0]);
  return state;
}

/** Forgets the inputs of a form that was submitted. */
export function forgetInputs(): void {
  unsent = { form: '', inputs: new Map() };
}
