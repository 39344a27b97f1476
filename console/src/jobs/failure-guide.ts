/** Explanation of an error code for the failures of a job. */
export interface FailureGuide {
  /** Heading, for example "Item not found". */
  heading: string;
  /** What the error means. */
  meaning: string;
  /** What the user can do. */
  action: string;
  /** Whether a retry of the same units can succeed. */
  retryHelps: boolean;
}

const fixInput = 'Check the submitted values and submit corrected ones.';
const retryLater = 'Retry the failed units later.';
const retrySoon = 'Retry the failed units.';
const askOperator = 'Ask an operator to change the configuration, then retry.';

const final = (heading: string, meaning: string, action: string): FailureGuide => ({
  heading,
  meaning,
  action,
  retryHelps: false,
});

const transient = (heading: string, meaning: string, action = retrySoon): FailureGuide => ({
  heading,
  meaning,
  action,
  retryHelps: true,
});

const guides: Readonly<Record<string, FailureGuide>> = {
  page_not_found: final('Not found', 'The marketplace has no such item, shop or listing.', fixInput),
  page_blocked: transient(
    'Blocked by the marketplace',
    'The marketplace answered with a robot check or refused the request.',
    retryLater,
  ),
  page_login: transient('Sign-in required', 'The marketplace asked for a sign-in.', retryLater),
  page_private: final('Private store', 'The store is closed to the public.', 'Remove these units.'),
  page_region: final(
    'Wrong country',
    'The marketplace answered for another country.',
    'Submit the units with the country in which they are sold.',
  ),
  page_throttled: transient('Too many requests', 'The marketplace asked to slow down.', retryLater),
  page_empty: transient('Empty page', 'The page did not contain its data.'),
  page_unreadable: transient('Unreadable page', 'The page was malformed, incomplete or has a new layout.'),
  page_mismatch: transient('Wrong page', 'The page was about another item or had impossible values.'),
  page_failed: transient('Marketplace error', 'The marketplace reported an internal error.'),
  page_too_large: final(
    'Result too large',
    'The page or listing exceeds a size limit.',
    'Submit smaller listings, for example with a product limit.',
  ),
  page_timeout: transient('Timeout', 'The marketplace did not respond in time.'),
  network: transient('Connection failed', 'The connection to the marketplace failed or was interrupted.'),
  proxy_failed: transient(
    'Proxy failed',
    'The configured proxy refused or interrupted the connection.',
    retryLater,
  ),
  invalid: final('Invalid input', 'These values do not name a page of the marketplace.', fixInput),
  origin_missing: final(
    'Marketplace not configured',
    'No site is configured for this marketplace and country.',
    'Ask an operator to configure the site, then submit the units again.',
  ),
  origin_paused: transient(
    'Marketplace paused',
    'Requests to the marketplace were paused for longer than the units could wait.',
    retryLater,
  ),
  address_refused: final('Address not allowed', 'The address is private or otherwise not allowed.', fixInput),
  robots_disallowed: final(
    'Disallowed by robots.txt',
    'The robots.txt of the store does not allow these pages.',
    'Remove these units.',
  ),
  browser_missing: final(
    'No browser available',
    'This marketplace requires a browser, and the service has none.',
    askOperator,
  ),
  browser_failed: transient('Browser failed', 'The browser stopped or reported an error.'),
  not_queued: final(
    'Not run: not queued',
    'The job could not be queued. These units were refunded.',
    'Submit the job again.',
  ),
  work_abandoned: final(
    'Abandoned',
    'Several workers stopped while processing these units.',
    'Report the units to an operator.',
  ),
  terminated: final(
    'Not run: job cancelled',
    'The job was cancelled before these units ended. They were refunded.',
    'Submit them again if you still need them.',
  ),
  rejected: final(
    'Not run: job rejected',
    'The job was rejected before it started. Nothing was charged for these units.',
    'Read the message from the operators before you submit again.',
  ),
};

/** Returns the explanation of an error code. Unknown codes get a generic one. */
export const failureGuide = (code: string): FailureGuide =>
  guides[code] ?? transient(code, 'The service reported this error.');
