import { DiscardPolicy, nanos } from 'nats';

/**
 * Age at which an unconsumed message is dropped. The sweep then republishes its batch. Subjects
 * also contain the number of the period of this length, so that neither an undeliverable message
 * nor a wrong per-subject count can block a batch permanently.
 */
export const maxAgeMs = 24 * 3_600_000;

/**
 * Limits of the stream. A subject names one attempt of a batch, and the stream refuses a second
 * message on it, so that republishing a queued batch adds nothing. A full stream refuses further
 * messages, which wait in the store.
 */
export const streamLimits = {
  discard: DiscardPolicy.New,
  discard_new_per_subject: true,
  max_msgs_per_subject: 1,
  max_msgs: 500_000,
  max_bytes: 256 * 1024 * 1024,
  max_age: nanos(maxAgeMs),
};
