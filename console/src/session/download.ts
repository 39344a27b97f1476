import { askRest, ownPath } from './rest.ts';

/** Lets the browser follow an address and save what it finds there. */
function follow(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}

/** Lets the browser save bytes as a file. */
function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  follow(address, name);
  // The browser reads it a moment later.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * Lets the browser save what is behind a signed link, wherever it leads. Links that need the session's key are
 * fetched with it: throws a RestFault for an answer that is not good.
 */
export async function saveFromLink(link: string, name: string): Promise<void> {
  const path = ownPath(link);
  // Such links name their owner.
  if (new URL(path, location.origin).searchParams.has('user')) await saveFromRest(path, name);
  else follow(path, name);
}

/**
 * Fetches a path of this service with the session's key, and saves what comes as a file. Throws a RestFault for
 * an answer that is not good.
 */
export async function saveFromRest(path: string, name: string): Promise<void> {
  // The page's policy lets it ask nobody else.
  const response = await askRest(path, { headers: { prefer: 'no-redirect' } });
  saveBlob(await response.blob(), name);
}
