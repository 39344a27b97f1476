/** Faults that an origin injects on the wire. */
export type WireFault =
  | 'slow'
  | 'stall'
  | 'drop'
  | 'truncate'
  | 'wrong_type'
  | 'throttle'
  | 'unavailable'
  | 'blocked'
  | 'malformed'
  | 'huge';

/** A fault, and the number of requests per subject that it affects. Later requests succeed. */
export interface WireFaultRule {
  does: WireFault;
  times: number;
}

const always = Number.POSITIVE_INFINITY;

/**
 * Faults by the last three digits of a request's subject (an item id, a keyword, a shop). README.md
 * documents the table; tests and the demo rely on it.
 */
const rules: Readonly<Record<string, WireFaultRule>> = {
  900: { does: 'slow', times: always },
  901: { does: 'drop', times: 1 },
  902: { does: 'drop', times: always },
  903: { does: 'truncate', times: 1 },
  904: { does: 'truncate', times: always },
  905: { does: 'wrong_type', times: 1 },
  906: { does: 'wrong_type', times: always },
  907: { does: 'throttle', times: 1 },
  908: { does: 'throttle', times: always },
  909: { does: 'unavailable', times: 1 },
  910: { does: 'unavailable', times: always },
  911: { does: 'blocked', times: 1 },
  912: { does: 'blocked', times: always },
  913: { does: 'stall', times: 1 },
  914: { does: 'stall', times: always },
  915: { does: 'malformed', times: 1 },
  916: { does: 'malformed', times: always },
  917: { does: 'huge', times: always },
};

/** Returns the fault rule of a subject, or undefined if its requests succeed. */
export function ruleFor(subject: string | undefined): WireFaultRule | undefined {
  const suffix = subject?.slice(-3);
  return suffix !== undefined && Object.hasOwn(rules, suffix) ? rules[suffix] : undefined;
}
