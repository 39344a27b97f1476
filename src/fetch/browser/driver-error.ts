/** Reason of a browser that hangs. */
export const notResponding = 'it does not respond';

/** Words for errors of the driver, which name its own interface. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/timed? ?out|protocolTimeout/i, notResponding],
  [
    /(?:target|session|connection|browser|page|frame|context)\b.*\b(?:closed|detached|crashed)/i,
    'it ended',
  ],
];

/** Returns the reason of an error of the driver or of the browser, in words for operators. */
export function driverReason(error: unknown): string {
  const [message = ''] = (error as Error).message.split('\n');
  return reasons.find(([pattern]) => pattern.test(message))?.[1] ?? message;
}
