import type { Json } from '../../base/json.ts';
import { text } from '../fields.ts';

/** Base of relative addresses in responses. */
const site = 'https://www.blibli.com';

/** Headers that the site's own pages send. */
export const headers: Record<string, string> = {
  accept: 'application/json, text/plain, */*',
  'accept-language': 'id-ID,id;q=0.9,en;q=0.8',
  channelid: 'web',
  referer: `${site}/`,
};

/** Returns the absolute address of a path on the site, or null if there is none. */
export function address(value: Json | undefined): string | null {
  const path = text(value);
  return path === null ? null : (URL.parse(path, site)?.href ?? null);
}
