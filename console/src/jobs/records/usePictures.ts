import { useRef, useState } from 'react';

/** Pictures that fail before the column that shows them is hidden, if none was loaded. */
const maxFailures = 3;

/**
 * Returns a function to call when a picture was loaded or failed; undefined once `count` pictures, or several,
 * have failed and none was loaded.
 */
export function usePictures(count: number): ((isLoaded: boolean) => void) | undefined {
  const ends = useRef({ loaded: 0, failed: 0 });
  const [isHidden, setHidden] = useState(false);
  const onPicture = (isLoaded: boolean) => {
    ends.current[isLoaded ? 'loaded' : 'failed'] += 1;
    const { loaded, failed } = ends.current;
    if (loaded === 0 && failed >= Math.min(count, maxFailures)) setHidden(true);
  };
  return isHidden ? undefined : onPicture;
}
