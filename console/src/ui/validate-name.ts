/** Returns the problem of the name of a user, an operator, or a key. Null for a valid one. */
export function validateName(name: string): string | null {
  if (/^.{1,200}$/.test(name.trim())) return null;
  return 'Enter a name of 1 to 200 characters.';
}
