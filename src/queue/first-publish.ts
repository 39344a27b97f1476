import type { Queue } from './queue.ts';

/** Wraps a queue; `published` resolves when the first message is published through the wrapper. */
export function watchFirstPublish(queue: Queue): { queue: Queue; published: Promise<void> } {
  const { promise: published, resolve } = Promise.withResolvers<void>();
  return {
    published,
    queue: {
      ...queue,
      publish(message) {
        resolve();
        return queue.publish(message);
      },
    },
  };
}
