import { newId } from '../../../src/base/id.ts';
import { type OpenedDestination, sealSecrets } from '../../../src/destinations/address.ts';
import { defaultPath } from '../../../src/destinations/path-template.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import type { Destination } from '../../../src/store/destinations.ts';

/** Stores a destination of a user without a test. */
export async function storeDestination(
  { store, clock, destinations }: Pick<JobContext, 'store' | 'clock' | 'destinations'>,
  userId: string,
  { type, address, secrets }: OpenedDestination,
  fields: Partial<Destination> = {},
): Promise<Destination> {
  const owner = { id: newId(), userId };
  const destination: Destination = {
    ...owner,
    ...sealSecrets(destinations.box, owner, secrets),
    name: 'warehouse',
    type,
    address,
    format: 'jsonl',
    path: defaultPath,
    createdAt: clock.now(),
    updatedAt: clock.now(),
    revision: 1,
    ...fields,
  };
  await store.destinations.insert(destination);
  return destination;
}

/** Returns an address that accepts PUT requests. */
export const putAddress = (
  url: string,
  headers: Record<string, string> = {},
): OpenedDestination => ({
  type: 'https',
  address: { url: `${url}/`, headerNames: Object.keys(headers) },
  secrets: { query: '', headers },
});

/** Returns the bucket of startS3(). */
export const s3Bucket = (port: number, prefix = ''): OpenedDestination => ({
  type: 's3',
  address: {
    url: `http://127.0.0.1:${port}`,
    bucket: 'results',
    region: 'us-east-1',
    prefix,
    accessKey: 'gleaner',
  },
  secrets: { secretKey: 'gleaner/secret' },
});
