import { Fault } from '../../contract/fault.ts';
import { type Document, find, findAll, type HtmlPage, parseHtml, words } from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { containsNotFound } from './not-found-page.ts';
import { refreshFault } from './redirects.ts';
import { isAgeWall, isBusy, isConsentWall, saysNoResults } from './wall-page.ts';

/** Markers of known bot managers' check pages. */
const checkMarks = anyOf(
  [
    '_cf_chl_opt',
    'cf-chl-',
    '_incapsula_resource',
    'captcha-delivery\\.com',
    'px-captcha',
    'errors\\.edgesuite\\.net',
    'sec-if-cpt-container',
    '/_sec/verify\\?',
    'enable javascript and cookies to continue',
  ],
  { flags: 'i' },
);
/** Titles and headings of check and refusal pages. */
const checkTitles = anyOf(
  [
    'just a moment',
    'attention required',
    'access denied',
    'access to this page',
    'captcha',
    'robot check',
    '(?:not|are you) a robot',
    'security check',
    'verify(?:ing)? (?:you|that)',
    'pardon our interruption',
    'are you (?:a )?human',
    'checking your browser',
    'forbidden',
    'request blocked',
    'been blocked',
    'unusual traffic',
    'unusual activity',
    'lalu lintas (?:yang )?tidak biasa',
    'verifikasi keamanan',
  ],
  { flags: 'i' },
);
/** Returns true for the title of a check or refusal page. */
export const isCheckTitle = (title: string): boolean => checkTitles.test(title);

/**
 * Texts and elements that mark a short page as a robot check; a long page can contain them in a
 * form.
 */
const checkWords = /captcha|are you a robot|unusual traffic|access denied/i;
const checkElements = ['id', 'class', 'name', 'action', 'src']
  .map((name) => `[${name}*="captcha" i]`)
  .join();
const shortPage = 30_000;

/** Titles of login pages, by language. */
const loginTitles = anyOf(
  [
    '\\b(?:log|sign)[ -]?(?:in|on)\\b',
    '^masuk\\b',
    '\\bmasuk (?:ke|akun)',
    'đăng nhập',
    'เข้าสู่ระบบ',
    '登入',
    '登录',
    'ログイン',
    'サインイン',
    'iniciar sesión',
    'identifícate',
    'anmelden',
    'einloggen',
    'connexion',
    "s'identifier",
    'accedi\\b',
    '^entrar\\b',
    'faça login',
  ],
  { flags: 'i' },
);

/** Titles of pages that ask for a country or language, by language. */
const chooserTitles = anyOf(
  [
    '(?:choose|select|change|pick) (?:your |a |the )?(?:country|region|location|language|store|market)',
    'where are you shopping',
    'pilih (?:negara|wilayah|lokasi|bahasa)',
    'chọn (?:quốc gia|khu vực|ngôn ngữ)',
    'เลือก(?:ประเทศ|ภูมิภาค|ภาษา)',
    '選擇(?:您的)?(?:國家|地區|語言)',
    '(?:selecione|escolha) (?:o |seu |um )?(?:país|idioma|região)',
    '(?:elige|selecciona) (?:tu |el |un )?(?:país|idioma)',
    '(?:wähle|wählen sie) (?:dein |ihr |ein )?(?:land|sprache)',
    'choisi(?:ssez|r) (?:votre |un )?(?:pays|langue)',
  ],
  { flags: 'i' },
);

/** Titles of pages that a site does not show in the visitor's country, by language. */
const restrictedTitles = anyOf(
  [
    '(?:not|un)[ -]?available (?:in|for) (?:your|this) (?:country|region|location|area)',
    'unavailable for legal reasons',
    'tidak tersedia di (?:negara|wilayah)',
    'không (?:có sẵn|khả dụng) (?:ở|tại) (?:quốc gia|khu vực)',
    '(?:in|für) (?:deinem|ihrem|dein|ihr) land nicht verfügbar',
    '(?:pas|non) disponible dans votre (?:pays|région)',
    'no (?:está )?disponible en (?:tu|su) (?:país|región)',
    'non (?:è )?disponibile nel tuo paese',
    'お住まいの(?:国|地域)では',
  ],
  { flags: 'i' },
);

/** Titles of "not found" pages that containsNotFound() does not detect, by language. */
const goneTitles = anyOf(
  [
    'not[ _-]?found',
    '\\b404\\b',
    "(?:page|product|item) (?:does(?:n't| not) exist|(?:is )?no longer|unavailable)",
    "can(?:'|’)?t find",
    'tidak (?:ditemukan|tersedia)',
    'không (?:tìm thấy|tồn tại)',
    'ไม่พบ',
    '找不到',
    'não encontrad[ao]',
    'no (?:se ha )?encontrad[ao]',
    'nicht gefunden',
    'introuvable',
    'non trovat[ao]',
    '見つかりません',
  ],
  { flags: 'i' },
);

/** Text of a page whose scripts have not run. */
const loadingWords = anyOf(
  [
    'loading',
    'please wait',
    'one moment please',
    'memuat',
    'mohon tunggu',
    'đang tải',
    'กำลังโหลด',
    '載入中',
    'carregando',
    'laden',
    'wird geladen',
    'chargement',
    'caricamento',
    'cargando',
    'ładowanie',
    'загрузка',
    'laddar',
    '読み込み中',
  ],
  { flags: 'i', before: '^', after: '[\\s.…]*$' },
);
/** Short texts that ask for scripts, by language. */
const scriptWords: readonly RegExp[] = [
  /\b(?:enable|activate|turn on|requires?|without|needs?) javascript/i,
  /\bjavascript (?:is |must be )?(?:required|disabled|enabled|to run this app)/i,
  /\bjavascript.{0,40}(?:aktivieren|deaktiviert|désactivé|inschakelen|aktifkan)/i,
  /\b(?:activer|activa|active|attiva|attivare|ative|włącz) (?:el |la |le |o |obsługę )?javascript/i,
];
const shortText = 300;
/** Elements that scripts of common frameworks fill. */
const appRoots = '#root, #app, #__next, #__nuxt, #___gatsby, #q-app, #app-root, app-root';
const scriptRemedy = ': its scripts fill it; set "fetch" to "browser" for it';
const wallRemedy =
  'it shows pages only after a confirmation; ' +
  'try a "proxy" in a country whose visitors it does not ask';

/** Characters of a page that are examined. */
const readable = 300_000;
const hidden: ReadonlySet<string> = new Set([
  'title',
  'head',
  'script',
  'style',
  'noscript',
  'template',
]);

/** Returns the text of a page that its visitors see. */
export function visibleText({ children }: Document): string {
  const texts = children.map((node) => {
    if ('attribs' in node)
      return hidden.has(node.name) ? null : words(node, ({ name }) => hidden.has(name));
    return node.type === 'text' ? node.data : null;
  });
  return texts.join(' ').trim();
}

/** Returns the headings of the first level, or of the second on a page without them. */
function mainHeadings(root: Document): string[] {
  const first = findAll(root, 'h1');
  return (first.length > 0 ? first : findAll(root, 'h2')).map((heading) => words(heading) ?? '');
}

/** Returns true for no text, and for the text of a page whose scripts have not run. */
const isUnfilled = (text: string): boolean => text === '' || loadingWords.test(text);

/** Returns true for a page that its scripts have not filled. */
function isShell(root: Document): boolean {
  const shownText = visibleText(root);
  if (isUnfilled(shownText)) return true;
  if (shownText.length <= shortText && scriptWords.some((request) => request.test(shownText)))
    return true;
  const app = find(root, appRoots);
  if (app === undefined || find(root, 'script') === undefined) return false;
  return isUnfilled(words(app) ?? '');
}

function isCheck(html: string, page: HtmlPage, headline: string): boolean {
  if (checkMarks.test(html) || checkTitles.test(headline)) return true;
  if (html.length > shortPage) return false;
  return checkWords.test(visibleText(page.root)) || find(page.root, checkElements) !== undefined;
}

/** Returns the title and the main headings of a page, one a line. */
const mainTitles = (root: Document): string =>
  [words(find(root, 'title')) ?? '', ...mainHeadings(root)].join('\n');

/**
 * Returns true for a page whose title or main heading asks for a login, the visitor's age, or a
 * consent, or says that the site is not available for a while.
 */
export function isWall({ root }: HtmlPage): boolean {
  const main = mainTitles(root);
  const isLogin = loginTitles.test(words(find(root, 'title')) ?? '');
  return isLogin || isAgeWall(main) || isConsentWall(main) || isBusy(main);
}

/** Returns true for a page whose title or main heading says that a search has no results. */
export const isNoResults = ({ root }: HtmlPage): boolean => saysNoResults(mainTitles(root));

/**
 * Returns the fault for an unexpected HTML page with a successful status; `what` names the expected
 * content. By title, headings and content: `page_unreadable` for a question for the visitor's age,
 * `page_blocked` for a robot check, `page_region` for a choice of countries or languages and for
 * content that other countries have, `page_not_found` for a "not found" page, `page_login` for a
 * login, `page_failed` for a site that is not available for a while, those of refreshFault(),
 * `page_empty` for a page without text or that waits for scripts, otherwise `page_unreadable`, also
 * for a question for a consent. Messages name the remedy. Call it only for pages without the
 * expected content.
 */
export function unexpectedPage(html: string, what: string): Fault {
  if (html.trim() === '')
    return new Fault('page_empty', `the site sent an empty response instead of ${what}`);
  const page = parseHtml(html.slice(0, readable));
  const title = words(find(page.root, 'title'));
  const headings = findAll(page.root, 'h1, h2').map((heading) => words(heading) ?? '');
  const headline = [title ?? '', ...headings].join('\n');
  const titled = title === null ? '' : ` titled "${title.slice(0, 100)}"`;
  if (isAgeWall(headline)) {
    return new Fault(
      'page_unreadable',
      `the site asks for the visitor's age${titled}: ${wallRemedy}`,
    );
  }
  if (isCheck(html, page, headline)) {
    return new Fault(
      'page_blocked',
      `the site sent a robot check or refusal page${titled} instead of ${what}`,
    );
  }
  if (restrictedTitles.test(headline)) {
    return new Fault('page_region', `the site does not show ${what} in this country${titled}`);
  }
  // A heading below another one, such as of a search form, can offer help with finding other pages.
  const main = mainTitles(page.root);
  if (containsNotFound(main) || goneTitles.test(main))
    return new Fault('page_not_found', `the site has no such page${titled}`);
  if (chooserTitles.test(headline)) {
    return new Fault('page_region', `the site asks which country or language is wanted${titled}`);
  }
  if (loginTitles.test(title ?? '') || find(page.root, 'input[type="password" i]') !== undefined) {
    return new Fault('page_login', `the site asks for a login${titled} instead of showing ${what}`);
  }
  return refreshFault(page) ?? contentFault(page, { what, titled, main });
}

/** What messages about a page say, and its main titles. */
interface PageDescription {
  what: string;
  titled: string;
  main: string;
}

/** Returns the fault of a page that shows something else than the expected content, or nothing. */
function contentFault({ root }: HtmlPage, { what, titled, main }: PageDescription): Fault {
  if (isBusy(main))
    return new Fault('page_failed', `the site is not available for a while${titled}`);
  if (isShell(root)) {
    const problem = `the site sent a page${titled} without content instead of ${what}`;
    return new Fault('page_empty', problem + scriptRemedy);
  }
  if (isConsentWall(main)) {
    return new Fault('page_unreadable', `the site asks for a consent${titled}: ${wallRemedy}`);
  }
  return new Fault('page_unreadable', `the site sent a web page${titled} instead of ${what}`);
}
