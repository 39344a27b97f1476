import type { Queue } from '../../queue/queue.ts';
import { currentTrace, inSpan, outsideSpans } from '../../telemetry/trace.ts';
import { messageAttributes } from '../../worker/message-span.ts';

/**
 * Wraps a queue so that each publish has a span, whose context travels with the message. A message that is published
 * again keeps its context.
 */
export function traceQueue(queue: Queue): Queue {
  return {
    ...queue,
    publish(message) {
      if (message.trace !== undefined) return queue.publish(message);
      const attributes = messageAttributes(queue, message, 'publish');
      return inSpan(`publish ${message.lane}.${message.market}`, { kind: 'producer', attributes }, () => {
        const traced = { ...message, trace: currentTrace() };
        // The in-process queue delivers the message from here, after the caller has continued.
        return outsideSpans(() => queue.publish(traced));
      });
    },
  };
}
