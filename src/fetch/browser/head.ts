/** Status, headers, and URL of a response. */
export interface ResponseHead {
  status: number;
  /** Headers as in PageResponse, except cookies and headers that describe the encoded body. */
  headers: Record<string, string>;
  /** URL without its fragment. */
  url: string;
}

/** Cookies, which the browser handles, and headers that describe only the encoded body. */
const dropped: readonly string[] = [
  'set-cookie',
  'content-encoding',
  'content-length',
  'transfer-encoding',
];

/** Converts the status, headers, and URL that the browser reports. */
export function toResponseHead(
  status: number,
  entries: Iterable<readonly [string, string]>,
  url: string,
): ResponseHead {
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (dropped.includes(key)) continue;
    // The browser joins some repeated headers with line breaks and reports others separately.
    const text = value.replaceAll('\n', ', ');
    headers[key] = headers[key] === undefined ? text : `${headers[key]}, ${text}`;
  }
  return { status, headers, url: url.replace(/#.*$/s, '') };
}
