import { restName } from '../../contract/rest-form.ts';
import { rulesOf } from '../../contract/rules.ts';
import {
  prefixFields,
  type RecordFieldNotation,
  type RecordFields,
} from '../../quality/record-schema.ts';
import { bulkProgress, bulkSubmitted } from '../bulk.ts';
import { byRegion, type Identity, identify, identityOf, itemFields, planItems } from '../items.ts';
import type { FilePack, Kind, ResultContract, View } from '../kind.ts';

/** Returns the fields of a line: identifiers of the item, and the page. */
function lineFields(page: RecordFields, { request }: ResultContract): RecordFields {
  const fields = itemFields(request);
  const listed: Record<string, RecordFieldNotation> = {};
  for (const { name, from } of identityOf(fields)) {
    const field = fields.find((each) => restName(each) === from);
    const isRequired = field !== undefined && rulesOf(field).required;
    listed[name] = isRequired ? 'string' : 'string?';
  }
  return { ...listed, ...prefixFields('response', page) };
}

/**
 * Writes one line per successful item: its identity, and its page in `response` (interface, "JSONL
 * line shapes"). Failed items have no line.
 */
export const jobFile: FilePack = {
  name: (job) => `${job.market}_pdp_${job.id}.jsonl.gz`,
  contentType: () => 'application/gzip',
  gzip: true,
  encoding: () => 'plain',
  whenAllFailed: false,
  head: () => '',
  separator: '',
  row(unit, outcome, { job }) {
    if (outcome.status === 'FAILED') return null;
    const line = JSON.stringify(identify(unit, job.params.identity as unknown as Identity, 0));
    return [`${line.slice(0, -1)},"response":`, '}\n'];
  },
  tail: () => '',
};

/** Shows a job's progress, its file, and the failed items, which have no line in the file. */
const retrieve: View = {
  needs: ['counts', 'failures'],
  async show(snapshot) {
    const { job, failures = [] } = snapshot;
    const identity = job.params.identity as unknown as Identity;
    const errors = failures.map(({ unit, message, place: index }) => ({
      ...identify(unit, identity, index + 1),
      error: message,
    }));
    return {
      jobId: job.id,
      ...(await bulkProgress(snapshot)),
      ...(errors.length > 0 ? { errors: JSON.stringify(errors) } : {}),
    };
  },
};

/** Thousands of product pages in one gzip-compressed JSON Lines file. */
export const pdpBulk: Kind = {
  name: 'pdp_bulk',
  page: 'product',
  lane: 'bulk',
  batchSize: 50,
  approval: false,
  workingHours: false,
  charge: 'submit',
  statusFrom: 'units',
  unqueued: 'refund',
  plan: (request, description, market) => planItems(request, description, market, byRegion),
  price: 5,
  resultFields: lineFields,
  files: { job: jobFile },
  submittedNeeds: [],
  submitted: bulkSubmitted,
  views: { retrieve },
};
