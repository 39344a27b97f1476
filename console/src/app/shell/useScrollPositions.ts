import { useEffect, useLayoutEffect, useRef } from 'react';
import { useLocation, useNavigationType } from 'react-router';

/**
 * Shows a new page from its top, and a page of the browser's history where its reader left it. The
 * browser restores a reloaded page.
 */
export function useScrollPositions(): void {
  const { key } = useLocation();
  const type = useNavigationType();
  const positions = useRef(new Map<string, number>());
  useEffect(() => {
    history.scrollRestoration = 'manual';
    const letBrowserRestore = () => {
      history.scrollRestoration = 'auto';
    };
    addEventListener('pagehide', letBrowserRestore);
    return () => removeEventListener('pagehide', letBrowserRestore);
  }, []);
  // An effect of the layout: the page before must not be left at the position of this one.
  useLayoutEffect(() => {
    const seen = positions.current;
    const isFirst = seen.size === 0;
    if (!isFirst) scrollTo(0, type === 'POP' ? (seen.get(key) ?? 0) : 0);
    const save = () => seen.set(key, scrollY);
    save();
    addEventListener('scroll', save, { passive: true });
    return () => removeEventListener('scroll', save);
  }, [key, type]);
}
