const steps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400,
];
const mostTicks = 7;

/** Marks of an axis of time from 0 to so many seconds, at round lengths. */
export function ticksOf(seconds: number): number[] {
  const day = steps.at(-1)!;
  const fits = (step: number) => seconds / step < mostTicks;
  const step = steps.find(fits) ?? day * Math.ceil(seconds / day / (mostTicks - 1));
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, at) => at * step);
}
