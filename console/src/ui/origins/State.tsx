import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Badge, Stack, Text } from '@mantine/core';
import type { Origin } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { failureGuide } from '../../../../src/present/failure-guide.ts';
import { Moment } from '../time/Moment.tsx';
import { originState } from './state.ts';

const badges = {
  unused: { color: 'gray', label: 'Not used yet' },
  ok: { color: 'teal', label: 'OK' },
  paused: { color: 'red', label: 'Paused' },
  trial: { color: 'yellow', label: 'Trial request' },
  ready: { color: 'yellow', label: 'Pause over' },
} as const;

/** State of an origin, with the cause and end of a pause. */
export function State({ origin }: { origin: Origin }) {
  const { pausedUntil, reason, strikes: failures, since } = origin; // cspell:disable-line
  const state = originState(
    {
      pausedUntilMs: pausedUntil && timestampMs(pausedUntil),
      probing: origin.probing,
      minutes: origin.minutes,
    },
    Date.now(),
  );
  const { color, label } = badges[state];
  return (
    <Stack gap={2} align="flex-start">
      <Badge color={color}>{label}</Badge>
      {pausedUntil && (
        <Text size="xs" span>
          {failureGuide(reason).heading}. {state === 'paused' ? <PauseEnd at={pausedUntil} /> : null}
          {state === 'ready' ? 'The next request is a trial. ' : null}
          {failures === 1 ? '1 failure' : `${failures} failures in a row`} since <Moment at={since} />.
        </Text>
      )}
    </Stack>
  );
}

function PauseEnd({ at }: { at: NonNullable<Origin['pausedUntil']> }) {
  return (
    <>
      Next request <Moment at={at} relative />.{' '}
    </>
  );
}
