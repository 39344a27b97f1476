import { getChange } from '../changes.ts';
import type { Origin, OriginReply, OriginRequest } from '../origin.ts';
import { productPage } from './product-page.ts';
import { fakeProduct } from './products.ts';
import { searchPage } from './search-page.ts';
import { stores } from './stores.ts';

function page(body: string, status = 200, headers: Record<string, string> = {}): OriginReply {
  return { status, headers: { 'content-type': 'text/html;charset=UTF-8', ...headers }, body };
}

const robotCheck = `<!DOCTYPE html><html lang="en-us"><head><title dir="ltr">Amazon.com</title></head><body>
<!-- To discuss automated access please contact api-services-support@example.test. -->
<h4>Enter the characters you see below</h4><form method="get" action="/errors/validateCaptcha"><input type=hidden name="amzn" value="a==" /><input id="captchacharacters" name="field-keywords"><button type="submit">Continue shopping</button></form></body></html>`;

const dogPage =
  '<!DOCTYPE html><html><head><title>Page Not Found</title></head><body><a href="/dogsofamazon"><img alt="Dogs of Amazon" src="/dog.jpg"></a><p>Sorry! We couldn\'t find that page.</p></body></html>';

/** Responses to subjects with these last digits, for any request (README.md). */
const refusals: Readonly<Record<string, OriginReply>> = {
  800: page(dogPage, 404),
  801: page(dogPage),
  807: page(robotCheck),
  808: page(robotCheck, 503),
  809: page(
    '<html><head><title>Amazon.de</title></head><body><p>Klicke auf die Schaltfläche unten, um mit dem Einkauf fortzufahren</p><button>Weiter shoppen</button></body></html>',
  ),
  810: page(
    '<html><body><script src="https://x.token.awswaf.com/challenge.js"></script></body></html>',
    202,
    { 'x-amzn-waf-action': 'challenge' },
  ),
  811: page(
    '<html><head><title>Sorry! Something went wrong!</title></head><body></body></html>',
    503,
  ),
  812: page('<html><head><title>500</title></head><body></body></html>', 500),
  814: page(
    '<!doctype html><html><head><title>Store: online shopping</title></head><body><div id="nav"></div></body></html>',
  ),
  815: page(''),
  816: page('<html><head><title>Sorry! Something went wrong!</title></head><body></body></html>'),
};

/** Page of a product whose offer the site failed to show. */
const sorryPage = `<!doctype html><html><head><title>Folding lantern: Store</title></head><body>
<div class="a-alert"><h4>An error has occurred.</h4></div><div id="dpSorryPage"><h1 id="title">Folding lantern</h1></div>
<div id="customerReviews"><span data-hook="rating-out-of-text">4.1 out of 5</span></div></body></html>`;

function subject({ url }: OriginRequest): string | undefined {
  const asin = /^\/dp\/([A-Z0-9]{10})$/.exec(url.pathname)?.[1];
  return (
    asin ?? url.searchParams.get('k') ?? url.searchParams.get('rh')?.replace(/^n:/, '') ?? undefined
  );
}

function productResponse(region: string, asin: string): OriginReply {
  if (getChange('mkte', region, asin).isRemoved) return refusals[800]!;
  const product = fakeProduct(region, asin);
  switch (asin.slice(-3)) {
    case '803':
      return page(productPage(fakeProduct(region, `${asin.slice(0, 6)}X${asin.slice(7)}`)));
    case '813':
      return page(productPage(product).slice(0, 2000));
    case '817':
      return page(sorryPage);
    default:
      return page(productPage(product));
  }
}

function searchResponse(region: string, query: string, number: number): OriginReply {
  if (query.endsWith('820') && number > 1) return page(robotCheck);
  const body = searchPage(region, query, number);
  return page(query.endsWith('813') ? body.slice(0, 3000) : body);
}

/** Marketplace E: invented products and searches in all ten regions, in several layouts. */
export const mkte: Origin = {
  market: 'mkte',
  regions: Object.keys(stores),
  subject,
  blocked: () => refusals[807]!,
  respond: (request) => {
    const about = subject(request);
    if (about === undefined) return refusals[800]!;
    const refusal = refusals[about.slice(-3)];
    if (refusal) return refusal;
    if (request.url.pathname !== '/s') return productResponse(request.region, about);
    return searchResponse(
      request.region,
      about,
      Number(request.url.searchParams.get('page') ?? '1'),
    );
  },
};
