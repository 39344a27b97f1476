import { useState } from 'react';
import { showError } from '../errors/describe.ts';

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
