/**
 * Connection options that the store sets itself, by their lower-case names, and the values a URI may repeat. Every
 * step reads what an earlier step wrote, and a charge that was acknowledged must outlive a failover.
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
 * Returns a MongoDB connection string unchanged. Throws an Error that names the first option which would weaken the
 * store's consistency.
 */
export function parseMongoUri(uri: string): string {
  if (!/^mongodb(\+srv)?:\/\//i.test(uri))
    throw new Error('expected an address such as mongodb://host:27017/gleaner');
  const query = uri.indexOf('?');
  for (const [key, value] of new URLSearchParams(query < 0 ? '' : uri.slice(query + 1))) {
    const option = pinned[key.toLowerCase()];
    if (option === undefined || option.allowed.includes(value.toLowerCase())) continue;
    const remedy = option.allowed.length === 0 ? 'remove it' : `remove it or set it to ${option.allowed[0]}`;
    throw new Error(
      `the option ${option.name}=${value} weakens the consistency that the store relies on; ${remedy}`,
    );
  }
  return uri;
}
