import { Fault } from '../base/fault.ts';

/** Tells whether a claim that ended with this error counts as one without progress. */
export function countsAsStalled(error: unknown): boolean {
  const fault = Fault.from(error);
  if (fault.code !== 'unavailable') return true;
  // An engine that is away comes back, and says nothing about the unit; a full disk may be full of its own result.
  const { code } = (fault.cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}
