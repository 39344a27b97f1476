import { useSyncExternalStore } from 'react';

/** Who works with the console. */
export type Role = 'user' | 'operator';

/** A session: it lives in the tab, and ends with it. */
export interface Session {
  /** The API key; sent with every call. */
  key: string;
  role: Role;
  /** The account's name; '' for operators. */
  name: string;
}

/** The session, or why there is none. */
export interface SessionState {
  session: Session | null;
  /** Why the last session ended; '' when its owner ended it. */
  message: string;
}

const place = 'gleaner.session';

function stored(): Session | null {
  try {
    const value = JSON.parse(sessionStorage.getItem(place) ?? 'null') as Session | null;
    return typeof value?.key === 'string' && ['user', 'operator'].includes(value.role) ? value : null;
  } catch {
    return null;
  }
}

let state: SessionState = { session: stored(), message: '' };
const listeners = new Set<() => void>();

function set(next: SessionState): void {
  state = next;
  if (next.session) sessionStorage.setItem(place, JSON.stringify(next.session));
  else sessionStorage.removeItem(place);
  for (const listener of listeners) listener();
}

/** Starts a session. */
export const beginSession = (session: Session): void => set({ session, message: '' });

/** Ends the session; the sign-in page shows the message. Calls still under way may say so again. */
export function endSession(message = ''): void {
  if (state.session) set({ session: null, message });
}

/** The session as it is now. */
export const currentSession = (): Session | null => state.session;

/** The session's state, followed. */
export function useSessionState(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** The session of a page that only shows with one. */
export function useSession(): Session {
  const { session } = useSessionState();
  // A page may be drawn once more while its session ends.
  return session ?? { key: '', role: 'user', name: '' };
}
