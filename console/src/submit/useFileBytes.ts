import { useEffect, useState } from 'react';

/** Returns the contents of a file. Null without a file, and while it is read. */
export function useFileBytes(file: File | null): Uint8Array | null {
  const [bytes, setBytes] = useState<Uint8Array | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const read = async (current: File) => {
      const buffer = await current.arrayBuffer();
      if (isCurrent) setBytes(new Uint8Array(buffer));
    };
    setBytes(null);
    if (file !== null) void read(file);
    return () => {
      isCurrent = false;
    };
  }, [file]);
  return bytes;
}
