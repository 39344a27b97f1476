import { prefixFields } from '../../base/record-schema.ts';
import { restName } from '../../contract/rest-form.ts';
import { rulesOf } from '../../contract/rules.ts';
import { bulkProgress, bulkSubmitted } from '../bulk.ts';
import { byRegion, type Identity, identify, identityOf, itemFields, planItems } from '../items.ts';
import type { FilePack, Kind, ResultContract, View } from '../kind.ts';

/** Returns the fields of a line: identifiers of the item, and the page. */
function lineFields(page: string, { request }: ResultContract): string {
  const fields = itemFields(request);
  const identity = identityOf(fields).map(({ name, from }) => {
    const isRequired = fields.some((field) => restName(field) === from && rulesOf(field).required);
    return `${name}: string${isRequired ? '' : '?'}`;
  });
  return [...identity, prefixFields('response', page)].join('; ');
}

/**
 * Writes one line per successful item: its identity, and its page in `response` (interface, "JSONL line
 * shapes"). Failed items have no line.
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
    const errors = failures.map(({ unit, message, place }) => ({
      ...identify(unit, identity, place + 1),
      error: message,
    }));
    return {
      jobId: job.id,
      ...(await bulkProgress(snapshot)),
      ...(errors.length > 0 ? { errors: JSON.stringify(errors) } : {}),
    };
  },
};

/** Columns of its delivered tables so far: see Kind. */
const tableColumns = `
  unit_index: integer; unit_key: string; unit_region: string; data.variants.basicInfo.id: string;
  data.variants.basicInfo.shopID: string; data.variants.basicInfo.alias: string;
  data.variants.basicInfo.createdAt: string; data.variants.basicInfo.category.detail: json;
  data.variants.basicInfo.stats.countView: string; data.variants.basicInfo.stats.countReview: string;
  data.variants.basicInfo.stats.countTalk: string; data.variants.basicInfo.stats.rating: number;
  data.variants.basicInfo.txStats.transactionSuccess: string;
  data.variants.basicInfo.txStats.transactionReject: string;
  data.variants.basicInfo.txStats.countSold: string; data.variants.basicInfo.minOrder: integer;
  data.variants.basicInfo.maxOrder: integer; data.variants.basicInfo.weight: integer;
  data.variants.basicInfo.weightUnit: string; data.variants.basicInfo.url: string;
  data.variants.basicInfo.condition: string; data.variants.basicInfo.status: string;
  data.variants.basicInfo.isLeasing: boolean; data.variants.basicInfo.catalogID: string;
  data.variants.basicInfo.menu: json; data.variants.components: json; status: string; statusCode: integer;
  message: string; data.summary.id: string; data.summary.name: string; data.summary.brand: string;
  data.summary.category: string; data.summary.price.price: number;
  data.summary.price.originalPrice: number; data.summary.price.discountPercentage: number;
  data.summary.price.currency: string; data.summary.stock: integer; data.summary.sold: integer;
  data.summary.rating: number; data.summary.totalReview: integer; data.summary.merchant.id: string;
  data.summary.merchant.name: string; data.summary.merchant.type: string; data.summary.url: string;
  data.summary.condition: string; data.summary.status: string; data.items: json; _scraped_at: string;
  _product_id: string; _country: string; product.id: string; product.title: string;
  product.description: string; product.category: string; product.brand: string; product.price: number;
  product.stock: integer; product.sold: integer; product.rating: number; product.totalReview: integer;
  product.seller: json; product.url: string; product.condition: string; product.status: json; skus: json;
  _asin: string; title: string; brand: string; price.amount: number; price.currency: string;
  price.original_price: number; availability: string; rating: number; review_count: integer; url: string;
  images: json; features: json; description: string; specifications: json; variants: json;
  seller.name: string; seller.id: string; id: string; site: string; sku: string; gtin: string;
  mpn: string; category: string; price: number; currency: string; list_price: number; available: boolean;
  condition: string; seller: string; extra: json`;

/** Thousands of product pages in one gzip-compressed JSON Lines file. */
export const pdpBulk: Kind = {
  name: 'pdp_bulk',
  page: 'product',
  lane: 'bulk',
  batchSize: 20,
  approval: false,
  workingHours: false,
  charge: 'submit',
  statusFrom: 'units',
  unqueued: 'refund',
  plan: (request, description, market) => planItems(request, description, market, byRegion),
  price: 5,
  tableColumns,
  resultFields: lineFields,
  files: { job: jobFile },
  submittedNeeds: [],
  submitted: bulkSubmitted,
  views: { retrieve },
};
