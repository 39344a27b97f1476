import type { Queue, QueueMessage } from '../queue/queue.ts';
import { attribute, ownAttribute } from '../telemetry/attributes.ts';
import { inSpan } from '../telemetry/trace.ts';

/** Types of the operations, in terms of the conventions. */
const operationTypes = { publish: 'send', process: 'process' };

/** Returns the attributes of a span that publishes or processes a message. */
export function messageAttributes(
  { engine }: Pick<Queue, 'engine'>,
  { lane, market, region, jobId, batchId, attempt, units }: QueueMessage,
  operation: keyof typeof operationTypes,
) {
  return {
    [attribute.messagingSystem]: engine === 'in process' ? 'in_process' : 'nats',
    [attribute.messagingDestination]: `${lane}.${market}`,
    [attribute.messagingOperation]: operation,
    [attribute.messagingOperationType]: operationTypes[operation],
    [attribute.messagingId]: `${batchId}.${attempt}`,
    [ownAttribute.job]: jobId,
    [ownAttribute.batch]: batchId,
    [ownAttribute.attempt]: attempt,
    [ownAttribute.market]: market,
    [ownAttribute.region]: region,
    [ownAttribute.units]: units,
  };
}

/**
 * Processes a message in a span whose parent is the publisher's, or in a new trace if there is
 * none.
 */
export function inMessageSpan(
  queue: Pick<Queue, 'engine'>,
  message: QueueMessage,
  run: () => Promise<void>,
): Promise<void> {
  const attributes = messageAttributes(queue, message, 'process');
  const name = `process ${message.lane}.${message.market}`;
  return inSpan(name, { kind: 'consumer', attributes, parent: message.trace ?? {} }, run);
}
