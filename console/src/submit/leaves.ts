/** Maximum values of leavesOf(). */
const maxLeaves = 300;

/**
 * Returns the values in a record that are no lists and objects, with their paths: "price.amount". In a file
 * of its own, so that its test loads no page.
 */
export function leavesOf(value: unknown, path = ''): [path: string, text: string][] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) return [[path, String(value)]];
  const members = Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member, path === '' ? name : Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`),
  );
  return members.slice(0, maxLeaves);
}
