/**
 * Returns an address without its path and query, which can be credentials:
 * "https://hooks.example.test/redacted". Returns "redacted" for anything else.
 */
export function originOnly(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? `${url.origin}/redacted` : 'redacted';
}
