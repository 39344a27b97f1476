/**
 * Connection options that the store sets itself, by lower-case name, with the values that a URI may
 * repeat. Each step reads what the previous step wrote, and an acknowledged charge must survive a
 * failover.
 */
const pinned: Readonly<Record<string, { name: string; allowed: readonly string[] }>> = {
  readpreference: { name: 'readPreference', allowed: ['primary'] },
  readpreferencetags: { name: 'readPreferenceTags', allowed: [] },
  maxstalenessseconds: { name: 'maxStalenessSeconds', allowed: ['-1'] },
  readconcernlevel: { name: 'readConcernLevel', allowed: ['majority'] },
  w: { name: 'w', allowed: ['majority'] },
  journal: { name: 'journal', allowed: ['true'] },
  j: { name: 'j', allowed: ['true'] },
};

/**
 * Returns a valid MongoDB connection string unchanged. Throws an Error that names the first option
 * that would weaken the store's consistency.
 */
export function parseMongoUri(uri: string): string {
  if (!/^mongodb(\+srv)?:\/\//i.test(uri))
    throw new Error('expected a URI such as mongodb://host:27017/gleaner');
  const query = uri.indexOf('?');
  for (const [key, value] of new URLSearchParams(query < 0 ? '' : uri.slice(query + 1))) {
    const name = key.toLowerCase();
    const option = Object.hasOwn(pinned, name) ? pinned[name] : undefined;
    if (option === undefined || option.allowed.includes(value.toLowerCase())) continue;
    const remedy =
      option.allowed.length === 0 ? 'remove it' : `remove it or set it to ${option.allowed[0]}`;
    throw new Error(
      `the option ${option.name}=${value} weakens the ` +
        `consistency that the store requires; ${remedy}`,
    );
  }
  return uri;
}
