import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  formatLocalTime,
  formatRelativeTime,
  formatUtcTime,
} from '../../../../src/present/time.ts';

interface MomentProps {
  at: Timestamp | undefined;
  /** Shows the time relative to now instead of the local date and time. */
  relative?: boolean;
  /** Text for an absent time. */
  none?: string;
}

/** Shows a time in the local time zone, with UTC as the tooltip. */
export function Moment({ at, relative = false, none = '–' }: MomentProps) {
  if (at === undefined) return <>{none}</>;
  const date = new Date(Number(at.seconds) * 1000 + Math.floor(at.nanos / 1e6));
  return (
    <time
      dateTime={date.toISOString()}
      title={formatUtcTime(date)}
      data-relative={relative || undefined}
    >
      {relative ? formatRelativeTime(date, Date.now()) : formatLocalTime(date)}
    </time>
  );
}
