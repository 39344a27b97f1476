import { Fault } from '../../contract/fault.ts';
import { parseHtml, words } from '../html/html.ts';
import { oneOf } from '../patterns.ts';

/** A sentence of "not found" pages: what is missing, and how a language says so. */
interface SubjectSentence {
  subject: string;
  predicates: readonly string[];
}

/** Sentences in the languages of the regions and of declared shops. */
const subjectSentences: readonly SubjectSentence[] = [
  // English
  {
    subject:
      '(?:(?:the|this|that|requested) )*(?:page|product|item)(?: (?:you|that|we)[^.!]{0,30})? ',
    predicates: [
      "(?:was|is|could|can)?(?: ?not|n['’]t) (?:be )?found",
      "(?:does not|doesn['’]t|no longer) exists?",
      'is no longer available',
    ],
  },
  // French
  {
    subject: '(?:cette |la |le )?(?:page|produit|article)(?: (?:demandée?|recherchée?))? (?:est )?',
    predicates: [
      'non trouvée?',
      'introuvable',
      'inexistante?',
      "n['’]existe (?:pas|plus)",
      "n['’]a pas été trouvée?",
      "n['’]est plus disponible",
    ],
  },
  // German
  {
    subject: '(?:diese |die |das |dieses |der )?(?:seite|produkt|artikel) ',
    predicates: [
      '(?:wurde |konnte )?(?:leider )?nicht gefunden(?: werden)?',
      'existiert (?:leider )?nicht(?: mehr)?',
      '(?:ist )?nicht mehr verfügbar',
    ],
  },
  // Spanish
  {
    subject: '(?:esta |la |el |este )?(?:página|producto|artículo) ',
    predicates: [
      'no (?:fue )?encontrad[ao]',
      'no existe',
      'no (?:se ha|ha sido) encontrad[ao]',
      'no se (?:encuentra|encontró)',
      'ya no (?:existe|está disponible)',
    ],
  },
  // Italian
  {
    subject: '(?:questa |la |il |questo )?(?:pagina|prodotto|articolo) ',
    predicates: [
      'non (?:è stat[ao] )?trovat[ao]',
      'non esiste(?: più)?',
      'inesistente',
      'non (?:è )?più disponibile',
    ],
  },
  // Portuguese
  {
    subject: '(?:esta |a |o |este )?(?:página|produto|artigo) ',
    predicates: ['não (?:foi )?encontrad[ao]', 'não existe', 'inexistente', 'indisponível'],
  },
  // Dutch
  {
    subject: '(?:deze |de |het |dit )?(?:pagina|product|artikel) ',
    predicates: [
      '(?:is |kon |werd )?niet (?:worden )?gevonden',
      'bestaat niet(?: meer)?',
      'niet meer beschikbaar',
    ],
  },
  // Polish
  {
    subject: '(?:ta |ten )?(?:strona|produkt) nie ',
    predicates: ['istnieje', '(?:została? )?znalezion[ay]'],
  },
  // Russian
  {
    subject: '(?:эта |этот |такой |такая )?(?:страница|товар|продукт) не ',
    predicates: ['найдена?', 'существует'],
  },
  // Japanese
  {
    subject: '(?:お探しの|ご指定の|この)?(?:ページ|商品)(?:が|は)?',
    predicates: ['見つかりません(?:でした)?', '存在しません', 'ございません'],
  },
  // Indonesian
  {
    subject: '(?:halaman|produk|barang)(?: ini| tersebut| yang [^.!]{0,30})? ',
    predicates: ['tidak (?:ditemukan|ada|dapat ditemukan)', 'tak ditemukan'],
  },
  // Swedish
  {
    subject: '(?:sidan|produkten|artikeln) ',
    predicates: ['hittades inte', 'kunde inte hittas', 'finns inte(?: längre)?', 'saknas'],
  },
  // Danish, Norwegian
  {
    subject: '(?:siden|produktet|varen) ',
    predicates: ['(?:blev |ble )?ikke fun(?:det|net)', 'fin(?:de|ne)s ikke'],
  },
];

/** Sentences without such a subject. */
const otherSentences: readonly string[] = [
  "(?:we )?(?:can['’]?t|cannot|could not|couldn['’]t) find (?:that|this|the) (?:page|product|item)",
  'page missing',
  'no (?:se ha encontrado|se encontró|encontramos|hemos encontrado) (?:la página|el producto)',
  'nie (?:znaleziono|można znaleźć) (?:strony|produktu)',
];

const sentence = [
  ...subjectSentences.map(({ subject, predicates }) => `${subject}(?:${predicates.join('|')})`),
  ...otherSentences,
].join('|');
const sorry = oneOf([
  'oops',
  'ups',
  'oups',
  'hoppla',
  'sorry',
  'désolé',
  'entschuldigung',
  'lo sentimos',
  'siamo spiacenti',
  'desculpe',
  'maaf',
  'helaas',
  'извините',
]);
const error = oneOf([
  'error',
  'fehler',
  'erreur',
  'errore',
  'erro',
  'fout',
  'błąd',
  'ошибка',
  'fel',
  'エラー',
]);
const punctuation = '[\\s,.!:…–—-]*';
const apology = `(?:${sorry}${punctuation})?`;
const number = `(?:${error}?\\s*404\\s*(?:error|erreur)?${punctuation})?`;

const notFoundMessage = new RegExp(
  `^${apology}${number}(?:${sentence}|not found)[\\s.!…。]*$`,
  'iu',
);
const anywhere = new RegExp(`(?<!\\p{L})(?:${sentence})`, 'iu');

/** Separators of a title's parts: "Page not found | Shop". */
const separators = /\s+[|–—·•:-]+\s+|\s*[|·•]\s*/;

/** Maximum characters of a title that are examined. */
const maxTitle = 300;

/** Returns true if a title or heading contains a sentence of "not found" pages. */
export function containsNotFound(title: string): boolean {
  return anywhere.test(title);
}

/**
 * Returns true if a title or heading, or one of its parts, says only that the page was not found.
 * The name of a product can contain such words beside others.
 */
export function isNotFoundTitle(title: string): boolean {
  const short = title.slice(0, maxTitle).trim();
  return [short, ...short.split(separators)].some((part) => notFoundMessage.test(part));
}

/** Returns the titles of a page: `title` and the first `h1`, from its source. */
function titlesOf(html: string): string[] {
  const sources = [
    /<title[^<>]{0,500}>([^<]{1,500})/i,
    /<h1(?:\s[^<>]{0,500})?>(.{1,1000}?)<\/h1/is,
  ];
  const found = sources
    .map((source) => source.exec(html)?.[1])
    .filter((title) => title !== undefined);
  return found.map((title) => words(parseHtml(title).root)).filter((title) => title !== null);
}

const notFoundTitle = (html: string): string | undefined => titlesOf(html).find(isNotFoundTitle);

/** Returns true for a page for which checkFound() throws. */
export const isNotFound = (html: string): boolean => notFoundTitle(html) !== undefined;

/**
 * Throws `page_not_found` for a page whose title or heading says only that it was not found,
 * whatever its status and data: such pages show other products.
 */
export function checkFound(html: string): void {
  const title = notFoundTitle(html);
  if (title === undefined) return;
  throw new Fault(
    'page_not_found',
    `the site has no such page: it is titled "${title.slice(0, 100)}"`,
  );
}
