/** Base of relative addresses in responses. */
export const site = 'https://www.blibli.com';

/** Headers that the site's own pages send. */
export const headers: Record<string, string> = {
  accept: 'application/json, text/plain, */*',
  'accept-language': 'id-ID,id;q=0.9,en;q=0.8',
  channelid: 'web',
  referer: `${site}/`,
};
