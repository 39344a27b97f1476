import type { Engines } from '../support/engines/engines.ts';
import type { FaultyProcess } from '../support/engines/restartable.ts';
import { type FaultyLink, startLink } from '../support/faults/link.ts';
import type { Deployment } from '../support/service/deployment.ts';
import type { EngineName } from './plan.ts';

/** A process that faults affect, with its own network link to each engine. */
export interface FaultTarget {
  process: FaultyProcess;
  links: Record<EngineName, FaultyLink> | null;
}

/** Launches every process, with its own link to each of the given engines. */
export async function launchTargets(
  deployment: Deployment,
  engines: Engines | null,
): Promise<FaultTarget[]> {
  const { MONGODB_URI: mongo, NATS_URL: nats } = engines?.settings ?? {};
  const targets: FaultTarget[] = [];
  for (const service of deployment.processes) {
    const process = { ...service, name: service.role };
    if (mongo === undefined || nats === undefined) {
      service.launch();
      targets.push({ process, links: null });
    } else {
      const links = { mongo: await linkTo(mongo), nats: await linkTo(nats) };
      service.launch({
        MONGODB_URI: throughLink(mongo, links.mongo),
        NATS_URL: throughLink(nats, links.nats),
      });
      targets.push({ process, links });
    }
  }
  return targets;
}

const linkTo = (address: string) => startLink(Number(new URL(address).port));

function throughLink(address: string, link: FaultyLink): string {
  const url = new URL(address);
  url.port = String(link.port);
  return url.href;
}
