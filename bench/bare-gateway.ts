import { fromJsonString, type Message } from '@bufbuild/protobuf';
import { MktaService } from '../gen/gleaner/mkta/v1/mkta_pb.ts';
import { createConversions } from '../src/api/rest/conversions.ts';
import { createRestApi, type RestCaller } from '../src/api/rest/rest.ts';
import { startServer } from '../src/api/rest/server.ts';
import { systemClock } from '../src/base/clock.ts';
import { createLog } from '../src/base/log.ts';
import { createBodyBudget } from '../src/contract/body-budget.ts';
import type { CallContext } from '../src/contract/caller.ts';

// The gateway alone: routing, validation, JSON, and access log as in the service, with fixed
// responses instead of the core.
const [retrieved, downloaded] = JSON.parse(process.argv[2]!) as [string, string];
const { retrieveVariantSold, downloadVariantSold } = MktaService.method;
const responses = new Map<string, Message>([
  [retrieveVariantSold.name, fromJsonString(retrieveVariantSold.output, retrieved)],
  [downloadVariantSold.name, fromJsonString(downloadVariantSold.output, downloaded)],
]);
const caller = {
  started: () => true,
  ready: async () => {},
  authenticate: async () => ({
    userId: 'bench',
    headers: { 'x-credits-remaining': '1000' },
    call: async (
      { name }: { name: string },
      _message: Message,
      { responseHeaders }: CallContext,
    ) => {
      // Response headers that a core sets.
      responseHeaders['x-credits-remaining'] = '1000';
      responseHeaders.etag = 'W/"AAAAAAAAAAAAAAAAAAAAAA"';
      return responses.get(name)!;
    },
    stream: () => {
      throw new Error('nothing is streamed here');
    },
  }),
} as unknown as RestCaller;

const gateway = createRestApi({
  services: [MktaService],
  caller,
  budget: createBodyBudget(),
  files: {
    size: async () => null,
    read: async () => {
      throw new Error('there are no files here');
    },
  } as never,
  verifyLink: () => {
    throw new Error('there are no links here');
  },
  conversions: createConversions(),
  restoreFile: () => {
    throw new Error('no file is served here');
  },
  exportFile: () => {
    throw new Error('there are no files here');
  },
  log: createLog('info', 'gateway'),
  clock: systemClock,
  publicUrl: () => 'http://127.0.0.1',
  version: 'bench',
});
const server = await startServer(gateway, 0, '127.0.0.1');
process.once('disconnect', () => process.exit(0));
process.send!(server.port);
