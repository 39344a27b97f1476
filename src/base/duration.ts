const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a duration such as 120s or 24h. Returns milliseconds, or null for another text. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return unit === undefined ? null : Number(count) * unitMs[unit]!;
}
