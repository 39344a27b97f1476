import { Box, Skeleton } from '@mantine/core';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';

interface WhenVisibleProps {
  /** Height of the content. */
  height: number;
  children: ReactNode;
}

/** Mounts its content, whose code may be large, once its place is scrolled near the window. */
export function WhenVisible({ height, children }: WhenVisibleProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: '200px' },
    );
    if (place.current && !isNear) observer.observe(place.current);
    return () => observer.disconnect();
  }, [isNear]);
  return (
    <Box ref={place} mih={height}>
      {isNear && <Suspense fallback={<Skeleton height={height} />}>{children}</Suspense>}
    </Box>
  );
}
