import { useState } from 'react';

/** Returns whether a condition holds, or has held in an earlier render. */
export function useEver(condition: boolean): boolean {
  const [hasHeld, setHasHeld] = useState(condition);
  if (condition && !hasHeld) setHasHeld(true);
  return condition || hasHeld;
}
