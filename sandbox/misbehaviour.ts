/** Ways in which an origin misbehaves on the wire. */
export type Misbehaviour =
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

/** A misbehaviour and how many requests about one subject meet it; after that they get their answer. */
export interface Rule {
  does: Misbehaviour;
  times: number;
}

const always = Number.POSITIVE_INFINITY;

/**
 * What happens to requests about a subject (an item id, a keyword, a shop), by its last three
 * digits. README.md has this table in words; tests and the demo rely on it.
 */
export const rules: Readonly<Record<string, Rule>> = {
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

/** The rule for a subject; undefined where it is served as it is. */
export function ruleFor(subject: string | undefined): Rule | undefined {
  const suffix = subject?.slice(-3);
  return suffix !== undefined && Object.hasOwn(rules, suffix) ? rules[suffix] : undefined;
}
