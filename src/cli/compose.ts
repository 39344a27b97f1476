import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { createDiskSpace, type DiskSpace, readFreeBytes, unusedDisk } from '../base/disk-space.ts';
import { newId } from '../base/id.ts';
import { createLog, type Log } from '../base/log.ts';
import { createDriftWatch } from '../drift/watch.ts';
import { createJobChanges, tellMoves } from '../jobs/changes.ts';
import type { JobContext } from '../jobs/context.ts';
import { resolveOffers } from '../jobs/offers.ts';
import { kinds } from '../kinds/list.ts';
import { readItemToken, writeItemToken } from '../links/item-token.ts';
import { createLinks, type Links, linkSeconds } from '../links/links.ts';
import { fixedLinkSecrets, openLinkSecrets } from '../links/secrets.ts';
import { withHosts } from '../markets/hosts.ts';
import { markets } from '../markets/list.ts';
import { services } from '../rpc/services.ts';
import { createOriginTally, type OriginTally } from '../sweep/origin-tally.ts';
import { openFetching } from './fetching.ts';
import { openStack, type Stack } from './stack.ts';

/** What every role of the program is made of. */
export interface Program {
  config: Config;
  clock: Clock;
  log: Log;
  stack: Stack;
  links: Links;
  /** What this process asked of origins. */
  tally: OriginTally;
  context: JobContext;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** The disk of the data folder, where the store or the result files are in it. */
function diskOf({ dataDir, mongoUri, s3Url, minFreeDiskBytes }: Config, clock: Clock, log: Log): DiskSpace {
  if (mongoUri !== null && s3Url !== null) return unusedDisk;
  const readFree = () => readFreeBytes(dataDir);
  return createDiskSpace({ readFree, minFreeBytes: minFreeDiskBytes, clock, log });
}

/**
 * Puts the program together from its configuration. `publicUrl`: what signed links start with; it is
 * asked late, because a port of 0 is known late.
 */
export async function compose(config: Config, role: string, publicUrl: () => string): Promise<Program> {
  const clock = systemClock;
  const log = createLog(config.logLevel, role);
  const stack = await openStack(config, clock, log);
  const secrets = config.linkSecrets
    ? fixedLinkSecrets(config.linkSecrets)
    : openLinkSecrets(config.dataDir, clock);
  const links = createLinks({ secrets, publicUrl, clock });
  const { queue, blobs } = stack;
  const changes = createJobChanges(clock);
  const store = tellMoves(stack.store, changes);
  const tally = createOriginTally(clock);
  const fetching = openFetching({ config, store, clock, log, watch: tally });
  const context: JobContext = {
    store,
    queue,
    blobs,
    disk: diskOf(config, clock, log),
    clock,
    log,
    newId,
    pages: fetching.pages,
    drift: createDriftWatch({ store, clock, log }),
    changes,
    offers: resolveOffers(
      services,
      kinds,
      markets.map((market) => withHosts(market, config.origins.get(market.name)?.hosts)),
    ),
    settings: config,
    links: {
      async file(job, { path }, bearer) {
        if (bearer) return links.link(path, { bearerOf: job.userId });
        return (
          (await blobs.presign(path, path.slice(path.lastIndexOf('/') + 1), linkSeconds)) ?? links.link(path)
        );
      },
      itemToken: (jobId, batchId, index) => writeItemToken(secrets, jobId, { batchId, index }),
      readItemToken: (jobId, token) => readItemToken(secrets, jobId, token),
    },
  };
  return {
    config,
    clock,
    log,
    stack,
    links,
    tally,
    context,
    async close() {
      await fetching.close();
      await stack.close();
    },
  };
}
