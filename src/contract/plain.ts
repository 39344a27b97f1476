/** Characters that change the direction of the text after them, also that of later columns. */
const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Replaces control characters and line separators in untrusted text, so that it stays on one line
 * and cannot control a terminal or start a header, and removes those that reverse what follows it.
 */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this replaces.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').replace(directions, '');
}
