/** Returns why units of a market and region fail without an origin, and how an operator can fix it. */
export function missingOriginMessage(market: string, region: string): string {
  const place = region === '' ? market : `${market}/${region}`;
  const key = region === '' ? `"${market}": "https://…"` : `"${market}": {"${region}": "https://…"}`;
  return `no origin is configured for ${place}: an operator must add ${key} to the file of GLEANER_ORIGINS and restart the service`;
}
