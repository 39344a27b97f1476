import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  DestinationSchema,
  DestinationService,
} from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { Fault } from '../../contract/fault.ts';
import {
  type OpenedDestination,
  openDestination,
  sealSecrets,
} from '../../destinations/address.ts';
import { type DestinationSettings, readSettings } from '../../destinations/settings.ts';
import { requireWritable, testDestination } from '../../destinations/test-object.ts';
import type { JobContext } from '../../jobs/context.ts';
import type { Destination, DestinationType } from '../../store/destinations.ts';
import { type Handlers, handle } from './handlers.ts';
import { toMessage } from './to-message.ts';

/** Maximum destinations of a user. */
const maxDestinations = 100;

/** Returns the handlers of gleaner.destination.v1.DestinationService. */
export function destinationHandlers(context: JobContext): Handlers {
  const { store, clock, newId, destinations } = context;
  const { method } = DestinationService;

  const unary = new Map([
    handle(method.createDestination, async (request, { principal, signal }) => {
      const { userId } = principal;
      if ((await store.destinations.find({ userId })).length >= maxDestinations)
        throw new Fault('conflict', `There are ${maxDestinations} destinations. Delete one first.`);
      const input = { ...request, type: request.type as DestinationType, clearSecrets: false };
      const settings = readSettings(input, null, destinations.allowPrivate);
      const id = newId();
      await requireWritable(destinations, settings.destination, id, signal);
      const now = clock.now();
      const base = {
        id,
        userId,
        name: request.name,
        createdAt: now,
        updatedAt: now,
        revision: 1,
      };
      const destination = documentOf(context, base, settings);
      if (!(await store.destinations.insert(destination))) throw nameTaken(request.name);
      return { destination: toDestinationMessage(destination) };
    }),
    handle(method.listDestinations, async (_request, { principal }) => ({
      destinations: (await store.destinations.find({ userId: principal.userId })).map(
        toDestinationMessage,
      ),
    })),
    handle(method.getDestination, async ({ destinationId }, { principal }) => ({
      destination: toDestinationMessage(await find(context, destinationId, principal.userId)),
    })),
    handle(method.updateDestination, async (request, { principal, signal }) => {
      const stored = await find(context, request.destinationId, principal.userId);
      const opened = openDestination(destinations.box, stored);
      const input = { ...request, type: stored.type };
      const settings = readSettings(input, opened, destinations.allowPrivate);
      await requireWritable(destinations, settings.destination, stored.id, signal);
      const revision = stored.revision + 1;
      const base = {
        ...stored,
        name: request.name,
        updatedAt: clock.now(),
        revision,
      };
      const changed = documentOf(context, base, settings);
      if (!(await store.destinations.put(changed))) throw await changeConflict(context, changed);
      return { destination: toDestinationMessage(changed) };
    }),
    handle(method.testDestination, async ({ destinationId }, { principal, signal }) => {
      const stored = await find(context, destinationId, principal.userId);
      const opened = requireOpened(openDestination(destinations.box, stored));
      const { target, error } = await testDestination(destinations, opened, stored.id, signal);
      return { ok: error === '', target, error };
    }),
    handle(method.deleteDestination, async ({ destinationId }, { principal }) => {
      if (
        (await store.destinations.remove({
          id: destinationId.toLowerCase(),
          userId: principal.userId,
        })) === 0
      )
        throw unknown(destinationId);
      return {};
    }),
  ]);
  return { unary, stream: new Map() };
}

const unknown = (id: string) => new Fault('not_found', `There is no destination '${id}'.`);
const nameTaken = (name: string) =>
  new Fault('conflict', `There is another destination with the name '${name}'.`);

async function find({ store }: JobContext, id: string, userId: string): Promise<Destination> {
  const found = await store.destinations.get(id.toLowerCase());
  if (found === null || found.userId !== userId) throw unknown(id);
  return found;
}

/** Throws `conflict` if the secrets of a destination cannot be decrypted. */
function requireOpened(opened: OpenedDestination | null): OpenedDestination {
  if (opened !== null) return opened;
  throw new Fault('conflict', 'The service has lost the key of the secrets. Enter them again.');
}

/** Returns the reason why a change was not stored. */
async function changeConflict(
  { store }: JobContext,
  { id, userId, name }: Destination,
): Promise<Fault> {
  const destinations = await store.destinations.find({ userId });
  if (destinations.some((other) => other.id !== id && other.name === name)) return nameTaken(name);
  return new Fault('conflict', 'The destination was changed concurrently. Try again.');
}

function documentOf(
  { destinations }: JobContext,
  base: Pick<Destination, 'id' | 'userId' | 'name' | 'createdAt' | 'updatedAt' | 'revision'>,
  { destination: { type, address, secrets }, format, path }: DestinationSettings,
): Destination {
  const { id, userId, name, createdAt, updatedAt, revision } = base;
  const sealed = sealSecrets(destinations.box, base, secrets);
  return {
    id,
    userId,
    name,
    type,
    address,
    ...sealed,
    format,
    path,
    createdAt,
    updatedAt,
    revision,
  };
}

const messageOf = toMessage(DestinationSchema);

function toDestinationMessage(
  destination: Destination,
): MessageInitShape<typeof DestinationSchema> {
  return messageOf({ ...destination, ...destination.address, destinationId: destination.id });
}
