/** Returns the problem of the name of a user, an operator, or a key. Null for a valid one. */
export function validateName(name: string): string | null {
  return /^.{1,200}$/.test(name.trim()) ? null : 'Enter a name of 1 to 200 characters.';
}
