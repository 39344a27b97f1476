import { Fault } from '../../contract/fault.ts';

/** Returns true if a claim that ended with this error counts as one without progress. */
export function countsAsStalled(error: unknown): boolean {
  const fault = Fault.from(error);
  if (fault.code !== 'unavailable') return true;
  // An unavailable engine says nothing about the unit, but its own result may be what filled the disk.
  const { code } = (fault.cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}
