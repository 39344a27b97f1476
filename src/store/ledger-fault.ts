import { Fault } from '../contract/fault.ts';

/** Creates the fault for posting an entry whose key is voided. */
export function voidedKeyFault(key: string): Fault {
  return new Fault('conflict', `ledger key ${key} is voided: its job or retry has ended`);
}
