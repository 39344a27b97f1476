import { z } from 'zod';
import { readJsonc } from '../../base/jsonc.ts';
import { didYouMean } from '../../contract/suggest.ts';
import type { OriginPolicy } from '../../fetch/policy.ts';
import { selectorProblem } from '../html/selector.ts';

/** Types of values, and how their text is read. */
const types = [
  'text',
  'number',
  'count',
  'price',
  'availability',
  'list',
  'boolean',
  'json',
] as const;

export type ValueType = (typeof types)[number];

/**
 * Standard fields of a product, by name, with their types. Others of a declaration are in `extra`.
 */
export const productFields = {
  title: 'text',
  brand: 'text',
  sku: 'text',
  gtin: 'text',
  mpn: 'text',
  description: 'text',
  category: 'text',
  price: 'price',
  currency: 'text',
  list_price: 'price',
  availability: 'availability',
  condition: 'text',
  seller: 'text',
  rating: 'number',
  review_count: 'count',
  images: 'list',
} as const satisfies Record<string, ValueType>;

/** Name of a source that stands for the structured data of a page. */
const structured = 'schema.org';

const selector = z
  .string()
  .min(1)
  .max(1_000)
  .superRefine((text, context) => {
    const message = selectorProblem(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
const type = z.enum(types).optional();
const source = z.preprocess(
  (input) => {
    if (typeof input !== 'string') return input;
    return input === structured ? { structured: true } : { css: input };
  },
  z
    .strictObject({
      structured: z.literal(true).optional(),
      css: selector.optional(),
      attribute: z.string().min(1).max(100).optional(),
      json: z.string().min(1).max(500).optional(),
      script: z.string().min(1).max(200).optional(),
      type,
    })
    .refine(
      ({ structured, css, json }) =>
        [structured, css, json].filter((one) => one !== undefined).length === 1,
      `expected a CSS selector, {"css": …}, {"json": …}, or "${structured}"`,
    )
    .refine(
      ({ css, attribute }) => css !== undefined || attribute === undefined,
      '"attribute" needs "css"',
    )
    .refine(
      ({ json, script }) => json !== undefined || script === undefined,
      '"script" needs "json"',
    ),
);
const sources = z.preprocess(
  (input) => (Array.isArray(input) ? input : [input]),
  z.array(source).min(1).max(10),
);
const fields = z.record(
  z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'expected a field such as title or shipping_time'),
  sources,
);
const host = z
  .string()
  .transform((input) => input.toLowerCase())
  .refine(isHost, 'expected a host such as shop.example, without a scheme or a path');

const listing = z.strictObject({
  items: selector.optional(),
  fields: fields.optional(),
  next: selector.optional(),
  page_parameter: z
    .string()
    .regex(/^[\w.[\]-]{1,40}$/, 'expected a query parameter such as page')
    .optional(),
  first_page: z.int().min(0).max(1).optional(),
  max_pages: z.int().min(1).max(1_000).optional(),
});

const declaration = z.preprocess(
  (input) => (typeof input === 'string' ? { hosts: [input] } : input),
  z
    .strictObject({
      hosts: z.array(host).min(1).max(50),
      fetch: z.enum(['http', 'browser']).optional(),
      concurrency: z.int().min(1).max(16).optional(),
      requests_per_second: z.number().positive().max(20).optional(),
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/, 'expected an ISO code such as EUR')
        .optional(),
      wait_for: selector.optional(),
      fields: fields.optional(),
      listing: listing.optional(),
    })
    .refine(({ wait_for, fetch }) => wait_for === undefined || fetch === 'browser', {
      path: ['wait_for'],
      error: 'only a browser waits: add "fetch": "browser"',
    }),
);

const siteName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'expected a name such as kiln or kiln-de');
const file = z.record(siteName, declaration);

/** Keys that are suggested for misspelled ones. */
const settingNames = [
  'hosts',
  'fetch',
  'concurrency',
  'requests_per_second',
  'currency',
  'wait_for',
  'fields',
  'listing',
  'items',
  'next',
  'page_parameter',
  'first_page',
  'max_pages',
  'css',
  'attribute',
  'json',
  'script',
  'type',
];

/** Where the value of a field comes from. */
export type FieldSource = z.infer<typeof source>;

/** Sources of fields by name, in the order in which they are tried. */
export type FieldSources = z.infer<typeof fields>;

/** Pages of listings of a site. */
export type ListingDeclaration = z.infer<typeof listing>;

/** A shop that operators declare (docs/sites.md). */
export interface SiteDeclaration
  extends Omit<z.infer<typeof declaration>, 'fields' | 'listing' | 'concurrency'> {
  name: string;
  fields: FieldSources;
  listing: ListingDeclaration;
  policy: Partial<OriginPolicy>;
}

function isHost(host: string): boolean {
  const url = URL.parse(`https://${host}`);
  // The URL has no default port.
  return (
    url !== null &&
    (url.host === host || url.host === host.replace(/:443$/, '')) &&
    host.length <= 253
  );
}

/**
 * Parses a file of declarations: JSON with comments, with the sites by name. Throws an Error with a
 * line for each problem: its line, column, and key.
 */
export function parseSites(text: string): SiteDeclaration[] {
  const { value } = readJsonc(
    text,
    file,
    (path) => `no such setting.${didYouMean(String(path.at(-1)), settingNames)}`,
  );
  return Object.entries(value).map(([name, { fields = {}, listing = {}, ...input }]) => {
    const { concurrency, requests_per_second: requestsPerSecond, fetch } = input;
    const limits = { concurrency, requestsPerSecond, fetch };
    const policy = Object.fromEntries(
      Object.entries(limits).filter(([, value]) => value !== undefined),
    );
    return { name, ...input, fields, listing, policy };
  });
}

/** Returns true if a site has the host of an address, also with `www.` in front. */
export const hasHost = ({ hosts }: SiteDeclaration, { host }: URL): boolean =>
  hosts.some((declared) => host === declared || host === `www.${declared}`);
