import { useForceUpdate } from '@mantine/hooks';
import { useEffect } from 'react';

/** Returns the current time in milliseconds, and renders each second while `advances`. */
export function useNow(advances: boolean): number {
  const render = useForceUpdate();
  useEffect(() => {
    if (!advances) return;
    const timer = setInterval(render, 1_000);
    return () => clearInterval(timer);
  }, [advances, render]);
  return Date.now();
}
