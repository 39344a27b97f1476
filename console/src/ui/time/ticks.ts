const steps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400,
];
const maxTicks = 7;

/** Returns the ticks of a time axis from 0 to the given seconds, at round intervals. */
export function timeTicks(seconds: number): number[] {
  const day = steps.at(-1)!;
  const fits = (step: number) => seconds / step < maxTicks;
  const step = steps.find(fits) ?? day * Math.ceil(seconds / day / (maxTicks - 1));
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
}
