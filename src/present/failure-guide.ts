/** Explanation of an error code for the failures of a job. */
export interface FailureGuide {
  /** Heading, for example "Item not found". */
  heading: string;
  /** Explanation of the error. */
  meaning: string;
  /** Recommended action of the user. */
  action: string;
}

const fixInput = 'Check the submitted values and submit corrected ones.';
const retryLater = 'Retry the failed units later.';
const retrySoon = 'Retry the failed units.';
const askOperator = 'Ask an operator to change the configuration, then retry the failed units.';

const guide = (heading: string, meaning: string, action = retrySoon): FailureGuide => ({
  heading,
  meaning,
  action,
});

const guides: Readonly<Record<string, FailureGuide>> = {
  page_not_found: guide(
    'Not found',
    'The marketplace has no such item, shop or listing.',
    fixInput,
  ),
  page_blocked: guide(
    'Blocked by the marketplace',
    'The marketplace answered with a robot check or refused the request.',
    retryLater,
  ),
  page_login: guide('Sign-in required', 'The marketplace asked for a sign-in.', retryLater),
  page_private: guide('Private store', 'The store is closed to the public.', 'Remove these units.'),
  page_region: guide(
    'Wrong country',
    'The marketplace answered for another country.',
    'Submit the units with the country in which they are sold.',
  ),
  page_throttled: guide('Too many requests', 'The marketplace asked to slow down.', retryLater),
  page_empty: guide('Empty page', 'The page did not contain its data.'),
  page_unreadable: guide(
    'Unreadable page',
    'The page was malformed, incomplete or has a new layout.',
  ),
  page_mismatch: guide('Wrong page', 'The page was about another item or had impossible values.'),
  page_failed: guide('Marketplace error', 'The marketplace reported an internal error.'),
  page_too_large: guide(
    'Result too large',
    'The page or listing exceeds a size limit.',
    'Submit smaller listings, for example with a product limit.',
  ),
  page_too_complex: guide(
    'Page too complex',
    'Reading the page takes more work than a page may take, for example because of its nesting.',
    'Report the page to an operator. If its site is declared, simpler selectors may help.',
  ),
  page_timeout: guide('Timeout', 'The marketplace did not respond in time.'),
  network: guide(
    'Connection failed',
    'The connection to the marketplace failed or was interrupted.',
  ),
  proxy_failed: guide(
    'Proxy failed',
    'The configured proxy refused or interrupted the connection.',
    retryLater,
  ),
  invalid: guide('Invalid input', 'These values do not name a page of the marketplace.', fixInput),
  origin_missing: guide(
    'Marketplace not configured',
    'No site is configured for this marketplace and country.',
    'Ask an operator to configure the site, then retry the failed units.',
  ),
  origin_paused: guide(
    'Marketplace paused',
    'Requests to the marketplace were paused for longer than the units could wait.',
    retryLater,
  ),
  address_refused: guide(
    'Address not allowed',
    'The address is private or otherwise not allowed.',
    fixInput,
  ),
  robots_disallowed: guide(
    'Disallowed by robots.txt',
    'The robots.txt of the store does not allow these pages.',
    'Remove these units.',
  ),
  browser_missing: guide(
    'No browser available',
    'This marketplace requires a browser, and the service has none.',
    askOperator,
  ),
  browser_failed: guide('Browser failed', 'The browser stopped or reported an error.'),
  page_not_kept: guide(
    'Page not kept',
    'The page was not kept, or was deleted. These units were refunded.',
    'Retry the failed units to fetch their pages.',
  ),
  not_queued: guide(
    'Not run: not queued',
    'The job could not be queued. These units were refunded.',
    'Resubmit the units.',
  ),
  work_abandoned: guide(
    'Abandoned',
    'Several workers stopped while processing these units.',
    'Retry the failed units. If they are abandoned again, report them to an operator.',
  ),
  terminated: guide(
    'Not run: job cancelled',
    'The job was cancelled before these units ended. They were refunded.',
    'Resubmit them if you still need them.',
  ),
  rejected: guide(
    'Not run: job rejected',
    'The job was rejected before it started. Nothing was charged for these units.',
    'Read the message from the operators before you resubmit the units.',
  ),
};

/** Returns the explanation of an error code. Unknown codes get a generic one. */
export const failureGuide = (code: string): FailureGuide =>
  guides[code] ?? guide(code, 'The service reported this error.');
