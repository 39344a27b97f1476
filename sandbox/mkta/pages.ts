import type { OriginReply, OriginRequest } from '../origin.ts';
import { signedPage } from '../request-signature.ts';
import { refusals } from './refusals.ts';

const title = 'Shop of lamps';

/** Script of a product page: sends the page's own request and renders the response. */
const requestItem = (itemId: string, shopId: string) => `
const query = new URLSearchParams({ item_id: '${itemId}', shop_id: '${shopId}', detail_level: '0' });
const response = await ask('/api/v4/pdp/get_pc?' + query).then((response) => response.json());
document.getElementById('root').textContent = response.data?.item?.title ?? 'Nothing to see';
`;

const requestSearch = `
const asked = new URLSearchParams(location.search);
const category = /-cat\\.(?:\\d+\\.)*(\\d+)$/.exec(location.pathname)?.[1];
const query = new URLSearchParams({
  by: asked.get('sortBy') ?? (category ? 'pop' : 'relevancy'), limit: '60', newest: String(60 * Number(asked.get('page') ?? 0)),
  order: asked.get('order') ?? 'desc', page_type: 'search', version: '2',
  scenario: category ? 'PAGE_CATEGORY' : 'PAGE_GLOBAL_SEARCH',
  ...(category ? { match_id: category } : { keyword: asked.get('keyword') }),
});
await ask('/api/v4/search/search_items?' + query);
`;

/** Script of a shop's page: requests both of its lists, 30 entries at a time. */
const requestShop = (shopId: string) => `
const offset = String(30 * Number(new URLSearchParams(location.search).get('page') ?? 0));
const list = { limit: '30', offset };
await ask('/api/v4/shop/rcmd_items?' + new URLSearchParams({ ...list, bundle: 'shop_page_category_tab_main', shop_id: '${shopId}' }));
await ask('/api/v4/shop/search_items?' + new URLSearchParams({ ...list, filter_sold_out: '1', shopid: '${shopId}' }));
`;

function html(status: number, body: string): OriginReply {
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<!doctype html>${body}`,
  };
}

function redirect(location: string): OriginReply {
  return { status: 302, headers: { location }, body: '' };
}

/** Size in bytes above the limit for rendered pages. */
const huge = `<title>${title}</title>${'<p>lamp</p>'.repeat(2_000_000)}`;

const archive: OriginReply = {
  status: 200,
  headers: {
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="a.zip"',
  },
  body: 'PK',
};

/** Faulty product pages, by the item id's last three digits (README.md). */
function odd(request: OriginRequest, itemId: string, shopId: string): OriginReply | undefined {
  const { pathname, searchParams } = request.url;
  const page = (code: string, body = 'Loading…') => signedPage(request, title, body, code);
  const item = requestItem(itemId, shopId);
  switch (itemId.slice(-3)) {
    case '820':
      return redirect('/buyer/login?next=%2F');
    case '821':
      return page(`location.replace('/verify/captcha?next=%2F');`);
    case '822':
      return refusals[812];
    case '823':
      return page('');
    case '824':
      return page(`throw new Error('out of order');${item}`);
    case '825':
      return redirect(`${pathname}?turn=${Number(searchParams.get('turn') ?? 0) + 1}`);
    case '826':
      return page(`location.search = 'turn=' + (${Number(searchParams.get('turn') ?? 0)} + 1);`);
    case '827':
      return html(200, huge);
    case '828':
      return page(`
        addEventListener('beforeunload', (event) => event.preventDefault());
        alert('Welcome'); confirm('Cookies?'); prompt('Name?');
        open('/search?keyword=popup'); open('/search?keyword=other', '_blank', 'noopener');
        ${item}`);
    case '829':
      return archive;
    case '830':
      return page('for (;;);');
    case '831':
      return redirect('http://other-country.example/');
    case '832':
      return page(`{${requestItem(`${Number(itemId) + 1}`, shopId)}}{${item}}`);
    case '833':
      return html(404, `<title>Not found</title><p>We could not find that page.`);
    case '834':
      return page(`for (let turn = 0; ; turn += 1) await fetch('/buyer/login?turn=' + turn);`);
    case '835':
      return redirect(`/Lamp-i.${shopId}.${itemId}`);
    case '836':
      return page(
        `const link = document.createElement('a'); link.href = '/file'; link.download = 'a.bin'; link.click(); ${item}`,
        '<img src="/picture.png"><video src="/film.mp4"></video><iframe src="http://other-site.example/"></iframe>',
      );
    case '837':
      return page(
        `for (let at = 0; at < 60; at++) { const frame = document.createElement('iframe'); frame.src = 'http://other-site.example/' + at; document.body.append(frame); setTimeout(() => frame.remove(), at % 7); } ${item}`,
      );
    default:
      return undefined;
  }
}

/** The login page and the captcha page. */
const login = html(
  200,
  '<title>Login</title><form><input name="key"><input type="password" name="word"></form>',
);
const puzzle = html(
  200,
  '<title>Verify</title><form action="/verify/captcha"><p>Slide to fit the puzzle.</p></form>',
);

/** Returns the HTML page of a path. Its scripts request the data. Undefined for other paths. */
export function page(request: OriginRequest): OriginReply | undefined {
  const { pathname } = request.url;
  const [, shopId, itemId] =
    /^\/product\/(\d+)\/(\d+)$/.exec(pathname) ?? /^\/[^/]*-i\.(\d+)\.(\d+)$/.exec(pathname) ?? [];
  if (shopId !== undefined && itemId !== undefined) {
    const moved = pathname.includes('-i.') && itemId.endsWith('835');
    const reply = moved ? undefined : odd(request, itemId, shopId);
    return reply ?? signedPage(request, title, 'Loading…', requestItem(itemId, shopId));
  }
  if (pathname === '/search' || /-cat\.[\d.]+$/.test(pathname)) {
    return signedPage(request, title, 'Loading…', requestSearch);
  }
  const shop = /^\/shop\/(\d+)(?:\/search)?$/.exec(pathname)?.[1];
  if (shop !== undefined) return signedPage(request, title, 'Loading…', requestShop(shop));
  if (pathname === '/buyer/login') return login;
  if (pathname.startsWith('/verify/')) return puzzle;
  return undefined;
}
