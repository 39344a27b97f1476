/**
 * Query parameters that clients of Google APIs send with any request:
 * https://cloud.google.com/apis/docs/system-parameters.
 */
const names = new Set([
  ...['alt', 'fields', 'prettyPrint', 'key', 'access_token', 'oauth_token', 'quotaUser', 'userProject'],
  ...['callback', 'uploadType', 'upload_protocol'],
]);

/** Returns true if a query parameter that is no field is one of every API. */
export function isSystemParameter(name: string): boolean {
  return name.startsWith('$') || names.has(name);
}

/** Returns true if a request wants enums as numbers: `$alt=json;enum-encoding=int`. */
export function wantsEnumNumbers(query: URLSearchParams | undefined): boolean {
  const alt = query?.get('$alt') ?? query?.get('alt');
  return alt?.split(';').includes('enum-encoding=int') ?? false;
}
