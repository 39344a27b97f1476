import type { Message } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../contract/fault.ts';
import type { Market, PageName } from '../markets/market.ts';
import { settledStatus, unitStatus } from '../store/job-states.ts';
import type { JobSnapshot, Kind, Plan, View } from './kind.ts';
import { reusedMember } from './unit-members.ts';

/** Properties that differ between kinds of listings by URL. */
type Listings = Pick<Kind, 'name' | 'page' | 'files' | 'resultFields'>;

/**
 * Creates a kind of up to 50 listing URLs that needs approval and writes one result file per URL.
 */
export function pgntKind(listings: Listings): Kind {
  return {
    ...listings,
    lane: 'bulk',
    batchSize: 1,
    approval: true,
    workingHours: true,
    charge: 'submit',
    statusFrom: 'batches',
    unqueued: 'refund',
    plan: (request, _description, market) => planUrls(request, market, listings.page),
    price: 6,
    submittedNeeds: [],
    submitted,
    views: { retrieve },
  };
}

/**
 * Plans one unit per URL, in the order submitted. Throws `invalid`, which names every URL that the
 * market cannot parse.
 */
function planUrls(request: Message, market: Market, page: PageName): Plan {
  const problems: Problem[] = [];
  const groups: Plan['groups'] = [];
  const types = new Set<string>();
  for (const [index, url] of (request as unknown as { urls: string[] }).urls.entries()) {
    try {
      const { input, region, type } = market.parseUrl!(page, url);
      types.add(type);
      groups.push({ region, units: [{ key: url, input }] });
    } catch (error) {
      problems.push({
        loc: ['body', 'urls', index],
        msg: (error as Error).message,
        type: 'url_parsing',
      });
    }
  }
  if (problems.length > 0) throw new Fault('invalid', 'Some URLs are not valid.', { problems });
  // The type of the first URL names a job of searches and categories.
  return { groups, region: '', params: { taskType: [...types][0] ?? page } };
}

function submitted({ job }: JobSnapshot) {
  return {
    ...job.params,
    jobId: job.id,
    status: job.state === 'awaiting_approval' ? 'awaiting_approval' : 'initializing',
    cost: job.cost,
    totalUrls: job.totalUnits,
    ...(job.refunded > 0 ? { refunded: job.refunded } : {}),
  };
}

/** Shows every URL with the path of its result. */
const retrieve: View = {
  needs: ['units'],
  show({ job, units = [], itemToken }) {
    const items = units.map(({ unit, outcome, batch, index }) => {
      const token = () => itemToken(batch, index);
      return {
        url: unit.key,
        status: unitStatus(outcome, job),
        ...(outcome?.status === 'SUCCESS'
          ? { downloadUrl: `/v1/${job.market}/pgnt/jobs/${job.id}/items/${token()}/data` }
          : {}),
        ...(outcome?.status === 'FAILED' ? { error: outcome.message } : {}),
        ...reusedMember(outcome),
      };
    });
    const countStatus = (status: string) => items.filter((item) => item.status === status).length;
    const counts = {
      total: items.length,
      success: countStatus('SUCCESS'),
      failed: countStatus('FAILED'),
    };
    return {
      jobId: job.id,
      ...job.params,
      status: settledStatus(job, counts),
      progress: `${counts.success + counts.failed}/${counts.total} URLs complete`,
      items,
    };
  },
};
