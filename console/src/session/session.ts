import { useSyncExternalStore } from 'react';

/** Role of the signed-in key. */
export type Role = 'user' | 'operator';

/** Session of the signed-in key; ends when the tab is closed. */
export interface Session {
  /** API key, sent with every request. */
  key: string;
  role: Role;
  /** Name of the account. */
  name: string;
}

/** Current session, or the reason why there is none. */
export interface SessionState {
  session: Session | null;
  /** Why the last session ended; '' after signing out. */
  message: string;
}

const storageKey = 'gleaner.session';

function stored(): Session | null {
  try {
    const value = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Session | null;
    return typeof value?.key === 'string' && ['user', 'operator'].includes(value.role) ? value : null;
  } catch {
    return null;
  }
}

let state: SessionState = { session: stored(), message: '' };
const listeners = new Set<() => void>();

function set(next: SessionState): void {
  state = next;
  if (next.session) sessionStorage.setItem(storageKey, JSON.stringify(next.session));
  else sessionStorage.removeItem(storageKey);
  for (const listener of listeners) listener();
}

/** Starts a session. */
export const startSession = (session: Session): void => set({ session, message: '' });

/** Ends the session and shows the message on the sign-in page; has no effect without a session. */
export function endSession(message = ''): void {
  if (state.session) set({ session: null, message });
}

/** Returns the current session. */
export const currentSession = (): Session | null => state.session;

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
export function useSession(): Session {
  const { session } = useSessionState();
  // A page may render once more while its session ends.
  return session ?? { key: '', role: 'user', name: '' };
}
