/** Values of the metrics in a response of /metrics, by name and labels as they are written. */
export type Scrape = ReadonlyMap<string, number>;

/** Reads the metrics of an operations port. Throws unless the response is 200. */
export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`/metrics: ${response.status} ${text}`);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** Returns the sum of the series of a metric that have all of the labels. */
export function sumOf(
  found: Scrape,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  let sum = 0;
  for (const [series, value] of found) {
    const isNamed = series === name || series.startsWith(`${name}{`);
    if (
      isNamed &&
      Object.entries(labels).every(([label, text]) => series.includes(`${label}="${text}"`))
    )
      sum += value;
  }
  return sum;
}

/** Returns the names of the metrics, without the suffixes of histogram series. */
export function namesOf(found: Scrape): Set<string> {
  return new Set([...found.keys()].map((series) => series.replace(/\{.*$/, '')));
}
