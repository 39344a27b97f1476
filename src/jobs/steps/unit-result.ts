import type { JsonObject } from '../../base/json.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { UnitPages } from '../kept-pages.ts';

/** A unit to read. */
export interface UnitTarget {
  job: Job;
  batch: Batch;
  /** Index of the unit in the batch. */
  index: number;
}

/** Outcome of a unit, with its record for kinds without a file per unit. */
export interface UnitResult {
  outcome: Outcome;
  payload?: Uint8Array;
  /** The record before it was serialized. Absent for a reused one. */
  record?: JsonObject;
  /** Stores the record for later jobs, if that is left to do after the outcome. */
  keepRecent?: () => Promise<void>;
  /** Pages of the last attempt, if they are kept. */
  pages?: UnitPages;
}

/** A unit that cannot be read now, and the time of its next attempt. */
export interface DeferredUnit {
  until: number;
  /** Reason shown to the owner: "mkta/id: blocked (page_blocked)". */
  reason: string;
  /** Attempts so far. */
  tries: number;
}
