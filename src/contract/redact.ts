/**
 * Returns an address without its path and query, which can be credentials:
 * "https://hooks.example.test/…". Returns "redacted" for anything else.
 */
export function originOnly(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return 'redacted';
  const isWhole = url.pathname === '/' && url.search === '';
  return `${url.origin}/${isWhole ? '' : '…'}`;
}
