import { describe, expect, test } from 'vitest';
import { expectLinear } from '../../../test/support/time/cost.ts';
import { unexpectedPage } from './unexpected-page.ts';

const page = (title: string, body = '', head = '') =>
  `<!doctype html><html><head><title>${title}</title>${head}</head><body>${body}</body></html>`;

describe('unexpectedPage()', () => {
  test.each([
    ['a check by its title', page('Just a moment...'), 'page_blocked'],
    ['a check by its heading', page('Shop', '<h1>Verify you are human</h1>'), 'page_blocked'],
    ['a captcha on a short page', page('Shop', '<p>Solve the captcha below'), 'page_blocked'],
    ['a captcha by its element', page('Shop', '<div class="g-ReCaptcha"></div>'), 'page_blocked'],
    [
      'a captcha by its script',
      page('Shop', '<script src="https://captcha.test/a.js"></script>'),
      'page_blocked',
    ],
    [
      'settings that name a captcha',
      page('Shop', '<script>{"sdk":"captcha"}</script><p>Hello'),
      'page_unreadable',
    ],
    ['a check by its script', page('', '<script>window._cf_chl_opt={}</script>'), 'page_blocked'],
    [
      'a check that loads the page again with its answer',
      page(
        '&nbsp;',
        '<script>xhr.open("POST","/_sec/verify?provider=interstitial",false)</script>',
        '<meta http-equiv="refresh" content="5; URL=/s?k=lamp&bm-verify=1">',
      ),
      'page_blocked',
    ],
    [
      'unusual traffic',
      page('Sorry', '<p>We have detected unusual traffic from your network'),
      'page_blocked',
    ],
    ['a login by its title', page('Masuk / Login'), 'page_login'],
    ['a login in Vietnamese', page('Đăng nhập ngay'), 'page_login'],
    ['a login by its field', page('Welcome', '<form><input type="Password"></form>'), 'page_login'],
    [
      'a choice of countries',
      page('Welcome', '<h1>Choose your country or region</h1>'),
      'page_region',
    ],
    ['a choice of languages', page('Pilih Bahasa', '<a href="/th">ไทย</a>'), 'page_region'],
    [
      'a product of another country',
      page('Shop', '<h1>This item is not available in your region</h1>'),
      'page_region',
    ],
    [
      'a product of another country in Indonesian',
      page('Produk tidak tersedia di negaramu'),
      'page_region',
    ],
    ['a soft 404', page('Page Not Found', '<p>Maybe isOtherRegion?'), 'page_not_found'],
    [
      'a soft 404 in Indonesian',
      page('Toko', '<h2>Waduh, tujuanmu tidak ditemukan!</h2>'),
      'page_not_found',
    ],
    [
      'a soft 404 with a login in its header',
      page('404', '<header><input type="password"></header>'),
      'page_not_found',
    ],
    [
      'a soft 404 with a choice of countries in its footer',
      page('404 Not Found', '<footer><h2>Choose your country</h2></footer>'),
      'page_not_found',
    ],
    ['a shell', page('Shop', '<div id="root"></div><script src="/a.js"></script>'), 'page_empty'],
    [
      'a shell that asks for scripts',
      page(
        'Shop',
        '<noscript>You need to enable JavaScript.</noscript><div id="app">Loading…</div>',
      ),
      'page_empty',
    ],
    [
      'a shell without a body',
      '<!doctype html><title>Shop</title><script src="/a.js"></script>',
      'page_empty',
    ],
    [
      'a shell with the frame of a shop',
      page(
        'Shop',
        '<header>Menu</header><div id="__next"><p>Loading…</p></div><script src="/a.js"></script>',
      ),
      'page_empty',
    ],
    [
      'a request for scripts',
      page('Shop', '<p>Please enable JavaScript to view this shop.'),
      'page_empty',
    ],
    [
      'a request for scripts in German',
      page('Shop', '<p>Bitte JavaScript aktivieren'),
      'page_empty',
    ],
    [
      'a filled application',
      page('Shop', '<div id="root"><p>Everything must go</div><script src="/a.js"></script>'),
      'page_unreadable',
    ],
    [
      'a heading below the main one that offers help',
      page('Bowl', '<h1>Bowl</h1><h2>Not found what you need?</h2>'),
      'page_unreadable',
    ],
    ['an overloaded site', page('503 Service Temporarily Unavailable', '<p>nginx'), 'page_failed'],
    ['maintenance', page('Shop', '<h1>We will be back soon</h1>'), 'page_failed'],
    ['a queue', page('Shop', '<h1>You are now in line</h1>'), 'page_failed'],
    ['a queue in French', page('Salle d’attente', '<p>5 minutes'), 'page_failed'],
    ['a shop that is not open yet', page('Opening soon', '<p>Mugs'), 'page_failed'],
    ['maintenance in German', page('Shop', '<h1>Wartungsarbeiten</h1>'), 'page_failed'],
    [
      'a page that forwards to a login',
      '<head><meta http-equiv="refresh" content="0; url=/login"></head>',
      'page_login',
    ],
    [
      'a page that forwards to another',
      '<head><meta http-equiv="refresh" content="0; url=/"></head>',
      'page_failed',
    ],
    ['nothing', ' \n', 'page_empty'],
    ['any other page', page('Spring sale', '<p>Everything must go.'), 'page_unreadable'],
    [
      'a page about logging',
      page('Shop', '<p>Firewood: catalogue of logs in oak'),
      'page_unreadable',
    ],
    [
      'a long page with a captcha script',
      page('Shop', `<p>Hi${'x'.repeat(40_000)}captcha`),
      'page_unreadable',
    ],
    ['plain text', 'Service is fine', 'page_unreadable'],
  ])('%s', (_name, html, code) => expect(unexpectedPage(html, 'data')).toMatchObject({ code }));

  test.each([
    'Age verification',
    'Verify your age',
    'Are you over 18?',
    'Altersprüfung',
    'Êtes-vous majeur ?',
    '¿Eres mayor de edad?',
    'Sei maggiorenne?',
    'Weryfikacja wieku',
    '年齢確認',
  ])('classifies %j as an age check, not as a robot check', (title) => {
    expect(unexpectedPage(page('Shop', `<h1>${title}</h1><p>Yes No`), 'a product')).toMatchObject({
      code: 'page_unreadable',
      message: expect.stringMatching(/asks for the visitor's age .*"proxy"/),
    });
  });

  test.each([
    'Before you continue',
    'We value your privacy',
    'Cookie-Einstellungen',
    'Nous respectons votre vie privée',
    'Valoramos tu privacidad',
    'Impostazioni dei cookie',
    'Szanujemy Twoją prywatność',
  ])('classifies %j as a consent page', (title) => {
    expect(unexpectedPage(page(title, '<button>OK</button>'), 'a product')).toMatchObject({
      code: 'page_unreadable',
      message: expect.stringMatching(/asks for a consent .*"proxy"/),
    });
  });

  test('ignores the consent banner of another page', () => {
    const html = page('Bowl', '<h1>Bowl</h1><div><h2>We value your privacy</h2></div>');
    expect(unexpectedPage(html, 'a product').message).toContain('instead of a product');
  });

  test('the fault of a shell names the remedy', () => {
    expect(unexpectedPage(page('Shop', '<div id="root"></div>'), 'a product').message).toContain(
      '"browser"',
    );
  });

  test('the fault names the title and the expected content', () => {
    expect(unexpectedPage(page('Spring sale', '<p>Now'), 'the product').message).toBe(
      'the site sent a web page titled "Spring sale" instead of the product',
    );
  });

  test('a page of 16 MB takes linear time', () => {
    const long = page('Shop', '<div><p>x</div>'.repeat(1_000_000));
    expectLinear(() => unexpectedPage(long, 'data'), [long]);
  });
});
