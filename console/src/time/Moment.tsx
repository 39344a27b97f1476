import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { agoText, localText, utcText } from './text.ts';

interface MomentProps {
  at: Timestamp | undefined;
  /** How long ago, or how long until; else the local date and time. */
  relative?: boolean;
  /** Stands for a moment that is not there. */
  none?: string;
}

/** A moment in the reader's time zone; pointing at it shows UTC. */
export function Moment({ at, relative = false, none = '–' }: MomentProps) {
  if (at === undefined) return <>{none}</>;
  const date = new Date(Number(at.seconds) * 1000 + Math.floor(at.nanos / 1e6));
  return (
    <time dateTime={date.toISOString()} title={utcText(date)}>
      {relative ? agoText(date, Date.now()) : localText(date)}
    </time>
  );
}
