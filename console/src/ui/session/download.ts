import { useState } from 'react';
import { showError } from '../errors/describe.ts';
import { fetchRest, sameOriginPath } from './rest.ts';

/** Makes the browser download an address as a file. */
function downloadAddress(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}

export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  downloadAddress(address, name);
  // The browser reads the address asynchronously.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Saves a streamed response as a file. */
export async function saveStream(
  stream: AsyncIterable<{ data: Uint8Array }>,
  name: string,
): Promise<void> {
  const parts: BlobPart[] = [];
  for await (const { data } of stream) parts.push(data as Uint8Array<ArrayBuffer>);
  saveBlob(new Blob(parts), name);
}

/**
 * Downloads a signed link as a file. Links that require their owner are fetched in the session;
 * throws a RestError for an error response.
 */
export async function downloadLink(link: string, name: string): Promise<void> {
  const path = sameOriginPath(link);
  // Links that require their owner contain the user.
  if (new URL(path, location.origin).searchParams.has('user')) await downloadRest(path, name);
  else downloadAddress(path, name);
}

/** Downloads a path of this service in the session. Throws a RestError for an error response. */
async function downloadRest(path: string, name: string): Promise<void> {
  // The content security policy forbids requests to other origins.
  const response = await fetchRest(path, { headers: { prefer: 'no-redirect' } });
  saveBlob(await response.blob(), name);
}

/** Returns a function that runs a download and shows its error, and whether one is running. */
export function useDownload() {
  const [busy, setBusy] = useState(false);
  const download = async (save: () => Promise<void>) => {
    setBusy(true);
    try {
      await save();
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
  return { download, busy };
}
