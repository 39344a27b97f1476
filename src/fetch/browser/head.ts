/** An answer's beginning: what is known of it before its body. */
export interface Head {
  status: number;
  /** As PageAnswer has them; without cookies and without what is not true of a decoded body. */
  headers: Record<string, string>;
  /** Without a fragment. */
  url: string;
}

/** What is between the browser and the site, and what was true of the body on the wire only. */
const dropped: readonly string[] = ['set-cookie', 'content-encoding', 'content-length', 'transfer-encoding'];

/** Makes a head of what the browser tells of an answer. */
export function headOf(status: number, entries: Iterable<readonly [string, string]>, url: string): Head {
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (dropped.includes(key)) continue;
    // The browser joins some repeated headers with line ends and tells others one by one.
    const text = value.replaceAll('\n', ', ');
    headers[key] = headers[key] === undefined ? text : `${headers[key]}, ${text}`;
  }
  return { status, headers, url: url.replace(/#.*$/s, '') };
}
