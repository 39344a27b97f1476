import { createClient } from '@connectrpc/connect';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { fetchRest } from '../session/rest.ts';
import type { Role } from '../session/session.ts';
import { transport } from '../session/transport.ts';

/** Opens a job's results so far as JSON Lines. The service logs each access of an operator. */
export async function openResults(
  role: Role,
  jobId: string,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  if (role === 'user') return (await fetchRest(`/v1/jobs/${jobId}/results`)).body!;
  const stop = new AbortController();
  const messages = createClient(OperatorService, transport)
    .streamResults({ jobId }, { signal: stop.signal })
    [Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await messages.next();
      if (done) controller.close();
      else controller.enqueue(value.data as Uint8Array<ArrayBuffer>);
    },
    cancel: () => stop.abort(),
  });
}
