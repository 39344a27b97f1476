import { useSyncExternalStore } from 'react';
import type { Permissions } from '../../../../src/contract/permission.ts';

/** Role of the signed-in account. */
export type AccountRole = 'user' | 'operator';

/** Session of the browser, with the permissions of its key. Its cookie is hidden from scripts. */
export interface ConsoleSession extends Permissions {
  /** Account that the browser has signed in to, also while a tab shows its test account. */
  userId: string;
  /**
   * Sent with every request to prove that a page of the console sent it; identifies the session and
   * its account.
   */
  csrfToken: string;
  /** Account that this tab can change to, and its token; null for none. */
  other: { mode: 'live' | 'test'; csrfToken: string } | null;
  name: string;
  /** True for a test account, whose jobs use the sandbox. */
  isTest: boolean;
  /** Whether the credits that the key may spend are limited. */
  hasCeiling: boolean;
}

const signedOut: ConsoleSession = {
  userId: '',
  csrfToken: '',
  other: null,
  role: 'user',
  scopes: [],
  operatorRole: null,
  name: '',
  isTest: false,
  hasCeiling: false,
};

/** Question whether a sign-in link replaces the session of another account. */
export interface AccountSwitch {
  /** Name of the account that is signed in. */
  from: string;
  /** Name of the account of the link. */
  to: string;
  accept(): Promise<void>;
  /** Keeps the session. */
  decline(): void;
}

/** Current session, or the reason why there is none. */
export interface SessionState {
  /** Null without a session; undefined until the service has responded. */
  session: ConsoleSession | null | undefined;
  /** Why the last session ended; '' after signing out. */
  message: string;
  /** Set until the user has answered. */
  accountSwitch?: AccountSwitch;
}

let state: SessionState = { session: undefined, message: '' };
const listeners = new Set<() => void>();

/** Replaces the session and re-renders the console. */
export function setSession(session: ConsoleSession | null, message = ''): void {
  setState({ session, message });
}

/** Asks the user before a sign-in link replaces the session. */
export function askToSwitch(accountSwitch: AccountSwitch): void {
  setState({ session: undefined, message: '', accountSwitch });
}

function setState(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

export const currentSession = (): ConsoleSession | null => state.session ?? null;

/** Returns the session state and re-renders when it changes. */
export function useSessionState(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Returns the session of a signed-in page. */
export function useSession(): ConsoleSession {
  const { session } = useSessionState();
  // A page may render once more while its session ends.
  return session ?? signedOut;
}
