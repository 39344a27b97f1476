import { askRest, ownPath } from './rest.ts';

/** Lets the browser save bytes as a file. */
export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads it a moment later.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * Fetches a path or a link of this service with the session's key, and saves what comes as a file. Throws a
 * RestFault for an answer that is not good.
 */
export async function saveFromRest(link: string, name: string): Promise<void> {
  const response = await askRest(ownPath(link));
  saveBlob(await response.blob(), name);
}
