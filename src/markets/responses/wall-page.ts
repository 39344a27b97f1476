import { anyOf } from '../patterns.ts';

/** Titles and headings of pages that ask for the visitor's age, by language. */
const ageTitles: readonly RegExp[] = [
  /\bage (?:verification|check|gate|restriction|restricted|confirmation)/i,
  /\b(?:verify|confirm) (?:your age|that you are (?:of legal|over|at least))/i,
  /\bare you (?:over|at least|of legal|older than|\d\d)/i,
  /\bhow old are you/i,
  /\bmust be (?:over |at least )?\d\d/i,
  /\balters(?:prüfung|verifikation|nachweis|abfrage|kontrolle|freigabe)/i,
  /\b(?:bist du|sind sie) (?:schon |über |mindestens )?\d\d/i,
  /vérification de (?:votre |l['’])âge/i,
  /(?:avez-vous|as-tu) (?:plus de )?\d\d ans/i,
  /êtes[- ]vous majeur/i,
  /verificación de (?:la )?edad/i,
  /eres mayor de (?:edad|\d\d)/i,
  /verifica (?:dell['’]|la tua )età/i,
  /sei maggiorenne/i,
  /hai (?:più di |almeno )?\d\d anni/i,
  /verificação de idade/i,
  /é maior de (?:idade|\d\d)/i,
  /\bleeftijds(?:controle|verificatie)/i,
  /\bben (?:je|u) (?:ouder dan |minimaal )?\d\d/i,
  /weryfikacja wieku/i,
  /czy masz (?:ukończone )?\d\d/i,
  /подтвердите (?:ваш |свой )?возраст/iu,
  /вам (?:уже )?(?:есть )?\d\d/iu,
  /年齢(?:確認|認証)/u,
  /\bverifikasi (?:usia|umur)/i,
  /ålders(?:kontroll|verifiering)/i,
  /är du (?:över )?\d\d/i,
];

/**
 * Titles and headings of pages that ask for a consent to cookies or to the use of data, by
 * language.
 */
const consentTitles: readonly RegExp[] = [
  /^before you (?:continue|proceed)/im,
  /\bwe (?:value|respect|care about) your privacy/im,
  /\byour privacy\b/im,
  /\b(?:cookie|privacy|consent) (?:consent|settings|preferences|choices|wall|notice)/i,
  /\baccept (?:all )?cookies/i,
  /\b(?:cookie|datenschutz|privatsphäre)-?\s?einstellungen/im,
  /(?:ihre|deine) privatsphäre/im,
  /^bevor (?:sie|du) fortf/im,
  /votre vie privée/im,
  /(?:paramètres|gestion) (?:des|de vos) cookies/im,
  /^avant d['’]accéder/im,
  /(?:tu|su) privacidad/im,
  /configuración de cookies/im,
  /^antes de continuar/im,
  /(?:la )?tua privacy/im,
  /impostazioni (?:dei )?cookie/im,
  /^prima di continuare/im,
  /sua privacidade/i,
  /(?:je|uw) privacy/im,
  /cookie-?\s?instellingen/im,
  /^voordat (?:je|u) (?:verder|doorgaat)/im,
  /(?:twoj[aąę]|państwa) prywatnoś/i,
  /ustawienia (?:plików )?cookie/i,
  /конфиденциальност/iu,
  /(?:din|er) integritet/i,
  /cookie-?\s?inställningar/i,
  /privasi anda/i,
  /persetujuan cookie/i,
  /(?:クッキー|cookie).{0,10}同意/iu,
  /プライバシー設定/iu,
];

/**
 * Returns true for titles of a page that asks for the visitor's age instead of showing its content.
 */
export function isAgeWall(titles: string): boolean {
  return ageTitles.some((pattern) => pattern.test(titles));
}

/**
 * Returns true for titles of a page that asks for a consent. The banner of a page has other
 * headings.
 */
export function isConsentWall(titles: string): boolean {
  return consentTitles.some((pattern) => pattern.test(titles));
}

/** Titles and headings of pages that let visitors wait for their turn, by language. */
const queueTitles: readonly RegExp[] = [
  /^(?:virtual )?waiting room$/im,
  /\byou(?:['’]re| are) (?:now |currently )?in (?:line|(?:a|our|the) (?:queue|line))\b/i,
  /\b(?:estimated|expected) wait(?:ing)? time\b/i,
  /^(?:virtueller )?warteraum$/im,
  /\bin der warteschlange\b/i,
  /^salle d['’]attente(?: virtuelle)?$/im,
  /vous êtes dans la file d['’]attente/i,
  /^sala de espera(?: virtual)?$/im,
  /est[áa]s en la (?:cola|fila)\b/i,
  /^sala d['’]attesa(?: virtuale)?$/im,
  /\bsei in coda\b/i,
  /você está na fila/i,
  /^(?:virtuele )?wachtkamer$/im,
  /\bin de wachtrij\b/i,
  /^(?:wirtualna )?poczekalnia$/im,
  /^ruang tunggu$/im,
  /^待合室$/imu,
  /アクセスが集中/u,
];

/** Titles and headings of pages of a site that is overloaded or closed for a while, by language. */
const busyTitles: readonly RegExp[] = [
  ...queueTitles,
  /^opening soon$/im,
  /\boverload(?:ed)?\b/i,
  /\btoo (?:busy|many requests)\b/i,
  /\b(?:temporarily|service) unavailable\b/i,
  /\btry again later\b/i,
  /\b(?:internal )?server error\b/i,
  /\bbad gateway\b/i,
  /\bgateway time-?out\b/i,
  /\b(?:under|site|scheduled) maintenance\b/i,
  /\bmaintenance (?:mode|work|page)\b/i,
  /\b(?:be|are) (?:right )?back soon\b/i,
  /^maintenance$/im,
  /wartungs(?:arbeiten|modus)/iu,
  /vorübergehend nicht (?:erreichbar|verfügbar)/iu,
  /en (?:cours de )?maintenance/iu,
  /service (?:temporairement )?indisponible/iu,
  /en mantenimiento/iu,
  /in manutenzione/iu,
  /em manutenção/iu,
  /in onderhoud/iu,
  /przerwa techniczna/iu,
  /технические работы/iu,
  /メンテナンス中/iu,
  /sedang (?:dalam )?(?:perbaikan|pemeliharaan)/iu,
];

/** Returns true for titles of a page of a site that is overloaded or closed for a while. */
export function isBusy(titles: string): boolean {
  return busyTitles.some((pattern) => pattern.test(titles));
}

/** Titles and headings of searches without results, by language. */
const noResults: readonly RegExp[] = [
  anyOf(['results?', 'products?', 'items?', 'matches'], {
    flags: 'im',
    before: '^(?:(?:sorry|oops)[\\s,.!:]*)?(?:no|0) (?:search |matching )?',
    after: '(?=$|[\\s.,:!])',
  }),
  /^your search .{0,100} (?:did not match|returned no)/im,
  /^we (?:couldn['’]t|could not|did not) find any/im,
  /^(?:leider )?(?:keine|0) (?:ergebnisse|treffer|produkte|artikel)/im,
  /^(?:aucun|0) (?:résultat|produit|article)/imu,
  /^(?:sin|0|no hay|ningún) resultados?/imu,
  /^no se (?:han encontrado|encontraron) (?:resultados|productos)/imu,
  /^(?:nessun|0) (?:risultat|prodott)[oi]/im,
  /^(?:nenhum|0) (?:resultado|produto)/im,
  /^(?:geen|0) (?:resultaten|producten)/imu,
  /^(?:brak|0) (?:wyników|produktów)/imu,
  /^(?:inga|ingen|0) (?:träffar|resultat(?:er)?|produkter)/imu,
  /^ничего не найдено/imu,
  /(?:該当する|検索)(?:商品|結果).{0,20}(?:ありません|見つかりません)/imu,
  /^(?:tidak ada|0) (?:hasil|produk)/imu,
  /^(?:không (?:có|tìm thấy)) (?:kết quả|sản phẩm)/imu,
];

/** Returns true for titles of a search without results. */
export function saysNoResults(titles: string): boolean {
  return noResults.some((pattern) => pattern.test(titles));
}
