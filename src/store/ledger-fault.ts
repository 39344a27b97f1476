import { Fault } from '../base/fault.ts';

/** The fault of posting an entry whose key was voided. */
export function voided(key: string): Fault {
  return new Fault('conflict', `ledger key ${key} was voided: the work that it stands for has ended`);
}
