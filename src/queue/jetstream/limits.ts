import { DiscardPolicy, nanos } from 'nats';

/**
 * A message that was not consumed for so long is dropped, and the sweep publishes its batch again. Subjects name
 * the period of this length too, so neither a message that the engine fails to deliver nor a wrong count of a
 * subject's messages keeps a batch out of the queue for good.
 */
export const maxAgeMs = 24 * 3_600_000;

/**
 * Limits of the stream. A subject names one attempt of a batch, and the stream refuses a second message of
 * it: publishing a batch that is still waiting adds nothing. A full stream refuses further messages, which
 * then wait in the store.
 */
export const streamLimits = {
  discard: DiscardPolicy.New,
  discard_new_per_subject: true,
  max_msgs_per_subject: 1,
  max_msgs: 500_000,
  max_bytes: 256 * 1024 * 1024,
  max_age: nanos(maxAgeMs),
};
