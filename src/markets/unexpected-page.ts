import { Fault } from '../contract/fault.ts';
import { type Document, find, findAll, type HtmlPage, parseHtml, words } from './html.ts';

/** Markers of known bot managers' check pages. */
const checkMarks =
  /_cf_chl_opt|cf-chl-|_incapsula_resource|captcha-delivery\.com|px-captcha|errors\.edgesuite\.net|sec-if-cpt-container|enable javascript and cookies to continue/i;
/** Titles and headings of check and refusal pages. */
const checkTitles =
  /just a moment|attention required|access denied|access to this page|captcha|robot check|(?:not|are you) a robot|security check|verify(?:ing)? (?:you|that)|pardon our interruption|are you (?:a )?human|checking your browser|forbidden|request blocked|been blocked|unusual traffic|unusual activity|lalu lintas (?:yang )?tidak biasa|verifikasi keamanan/i;
/** Texts and elements that mark a short page as a robot check; a long page can contain them in a form. */
const checkWords = /captcha|are you a robot|unusual traffic|access denied/i;
const checkElements = ['id', 'class', 'name', 'action', 'src'].map((name) => `[${name}*="captcha" i]`).join();
const shortPage = 30_000;

/** Titles of login pages, by language. */
const loginTitles =
  /\b(?:log|sign)[ -]?(?:in|on)\b|^masuk\b|\bmasuk (?:ke|akun)|đăng nhập|เข้าสู่ระบบ|登入|登录|ログイン|サインイン|iniciar sesión|identifícate|anmelden|einloggen|connexion|s'identifier|accedi\b|^entrar\b|faça login/i;

/** Titles of pages that ask for a country or language, by language. */
const chooserTitles =
  /(?:choose|select|change|pick) (?:your |a |the )?(?:country|region|location|language|store|market)|where are you shopping|pilih (?:negara|wilayah|lokasi|bahasa)|chọn (?:quốc gia|khu vực|ngôn ngữ)|เลือก(?:ประเทศ|ภูมิภาค|ภาษา)|選擇(?:您的)?(?:國家|地區|語言)|(?:selecione|escolha) (?:o |seu |um )?(?:país|idioma|região)|(?:elige|selecciona) (?:tu |el |un )?(?:país|idioma)|(?:wähle|wählen sie) (?:dein |ihr |ein )?(?:land|sprache)|choisi(?:ssez|r) (?:votre |un )?(?:pays|langue)/i;

/** Titles of pages that a site does not show in the visitor's country, by language. */
const restrictedTitles =
  /(?:not|un)[ -]?available (?:in|for) (?:your|this) (?:country|region|location|area)|unavailable for legal reasons|tidak tersedia di (?:negara|wilayah)|không (?:có sẵn|khả dụng) (?:ở|tại) (?:quốc gia|khu vực)|(?:in|für) (?:deinem|ihrem|dein|ihr) land nicht verfügbar|(?:pas|non) disponible dans votre (?:pays|région)|no (?:está )?disponible en (?:tu|su) (?:país|región)|non (?:è )?disponibile nel tuo paese|お住まいの(?:国|地域)では/i;

/** Titles of "not found" pages, by language. */
const goneTitles =
  /not[ _-]?found|\b404\b|(?:page|product|item) (?:does(?:n't| not) exist|(?:is )?no longer|unavailable)|can(?:'|’)?t find|tidak (?:ditemukan|tersedia)|không (?:tìm thấy|tồn tại)|ไม่พบ|找不到|não encontrad[ao]|no (?:se ha )?encontrad[ao]|nicht gefunden|introuvable|non trovat[ao]|見つかりません/i;

/** Text of a page whose scripts have not run. */
const loadingWords =
  /^(?:(?:loading|please wait|memuat|mohon tunggu|đang tải|กำลังโหลด|載入中|carregando|laden|chargement|caricamento|cargando|読み込み中)[\s.…]*)?$/i;

/** Characters of a page that are examined. */
const readable = 300_000;
const hidden: ReadonlySet<string> = new Set(['title', 'head', 'script', 'style', 'noscript', 'template']);

function visible({ children }: Document): string {
  const shown = children.map((node) => {
    if ('attribs' in node) return hidden.has(node.name) ? null : words(node, ({ name }) => hidden.has(name));
    return node.type === 'text' ? node.data : null;
  });
  return shown.join(' ').trim();
}

function isCheck(html: string, page: HtmlPage, said: string): boolean {
  if (checkMarks.test(html) || checkTitles.test(said)) return true;
  if (html.length > shortPage) return false;
  return checkWords.test(visible(page.root)) || find(page.root, checkElements) !== undefined;
}

/**
 * Returns the fault for an unexpected HTML page with a successful status; `what` names the expected content.
 * By title, headings and content: `page_blocked` for a robot check, `page_region` for a choice of countries
 * or languages and for content that other countries have, `page_not_found` for a "not found" page,
 * `page_login` for a login, `page_empty` for a page without text, otherwise `page_unreadable`. Call it only
 * for pages without the expected content.
 */
export function unexpectedPage(html: string, what: string): Fault {
  if (html.trim() === '')
    return new Fault('page_empty', `the site sent an empty response instead of ${what}`);
  const page = parseHtml(html.slice(0, readable));
  const title = words(find(page.root, 'title'));
  const headings = findAll(page.root, 'h1, h2').map((heading) => words(heading) ?? '');
  const said = [title ?? '', ...headings].join('\n');
  const titled = title === null ? '' : ` titled "${title.slice(0, 100)}"`;
  if (isCheck(html, page, said)) {
    return new Fault(
      'page_blocked',
      `the site sent a robot check or refusal page${titled} instead of ${what}`,
    );
  }
  if (chooserTitles.test(said)) {
    return new Fault('page_region', `the site asks which country or language is wanted${titled}`);
  }
  if (restrictedTitles.test(said)) {
    return new Fault('page_region', `the site does not show ${what} in this country${titled}`);
  }
  if (goneTitles.test(said)) return new Fault('page_not_found', `the site has no such page${titled}`);
  if (loginTitles.test(title ?? '') || find(page.root, 'input[type="password" i]') !== undefined) {
    return new Fault('page_login', `the site asks for a login${titled} instead of showing ${what}`);
  }
  if (loadingWords.test(visible(page.root))) {
    return new Fault('page_empty', `the site sent a page${titled} without content instead of ${what}`);
  }
  return new Fault('page_unreadable', `the site sent a web page${titled} instead of ${what}`);
}
