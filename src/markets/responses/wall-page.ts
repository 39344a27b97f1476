/** Titles and headings of pages that ask for the visitor's age, by language. */
const ageTitles: readonly RegExp[] = [
  /\bage (?:verification|check|gate|restriction|restricted|confirmation)/i,
  /\b(?:verify|confirm) (?:your age|that you are (?:of legal|over|at least))/i,
  /\bare you (?:over|at least|of legal|older than|\d\d)/i,
  /\bhow old are you|\bmust be (?:over |at least )?\d\d/i,
  /\balters(?:prüfung|verifikation|nachweis|abfrage|kontrolle|freigabe)/i,
  /\b(?:bist du|sind sie) (?:schon |über |mindestens )?\d\d/i,
  /vérification de (?:votre |l['’])âge|(?:avez-vous|as-tu) (?:plus de )?\d\d ans|êtes[- ]vous majeur/i,
  /verificación de (?:la )?edad|eres mayor de (?:edad|\d\d)/i,
  /verifica (?:dell['’]|la tua )età|sei maggiorenne|hai (?:più di |almeno )?\d\d anni/i,
  /verificação de idade|é maior de (?:idade|\d\d)/i,
  /\bleeftijds(?:controle|verificatie)|\bben (?:je|u) (?:ouder dan |minimaal )?\d\d/i,
  /weryfikacja wieku|czy masz (?:ukończone )?\d\d/i,
  /подтвердите (?:ваш |свой )?возраст|вам (?:уже )?(?:есть )?\d\d/iu,
  /年齢(?:確認|認証)/u,
  /\bverifikasi (?:usia|umur)/i,
  /ålders(?:kontroll|verifiering)|är du (?:över )?\d\d/i,
];

/**
 * Titles and headings of pages that ask for a consent to cookies or to the use of data, by
 * language.
 */
const consentTitles: readonly RegExp[] = [
  /^before you (?:continue|proceed)|\bwe (?:value|respect|care about) your privacy|\byour privacy\b/im,
  /\b(?:cookie|privacy|consent) (?:consent|settings|preferences|choices|wall|notice)|\baccept (?:all )?cookies/i,
  /\b(?:cookie|datenschutz|privatsphäre)-?\s?einstellungen|(?:ihre|deine) privatsphäre|^bevor (?:sie|du) fortf/im,
  /votre vie privée|(?:paramètres|gestion) (?:des|de vos) cookies|^avant d['’]accéder/im,
  /(?:tu|su) privacidad|configuración de cookies|^antes de continuar/im,
  /(?:la )?tua privacy|impostazioni (?:dei )?cookie|^prima di continuare/im,
  /sua privacidade/i,
  /(?:je|uw) privacy|cookie-?\s?instellingen|^voordat (?:je|u) (?:verder|doorgaat)/im,
  /(?:twoj[aąę]|państwa) prywatnoś|ustawienia (?:plików )?cookie/i,
  /конфиденциальност/iu,
  /(?:din|er) integritet|cookie-?\s?inställningar/i,
  /privasi anda|persetujuan cookie/i,
  /(?:クッキー|cookie).{0,10}同意|プライバシー設定/iu,
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

/** Titles and headings of pages of a site that is overloaded or closed for a while, by language. */
const busyTitles: readonly RegExp[] = [
  /\b(?:overload(?:ed)?|too (?:busy|many requests)|(?:temporarily|service) unavailable|try again later)\b/i,
  /\b(?:internal )?server error\b|\bbad gateway\b|\bgateway time-?out\b/i,
  /\b(?:(?:under|site|scheduled) maintenance|maintenance (?:mode|work|page)|(?:be|are) (?:right )?back soon)\b|^maintenance$/im,
  /wartungs(?:arbeiten|modus)|vorübergehend nicht (?:erreichbar|verfügbar)/iu,
  /en (?:cours de )?maintenance|service (?:temporairement )?indisponible/iu,
  /en mantenimiento|in manutenzione|em manutenção|in onderhoud|przerwa techniczna/iu,
  /технические работы|メンテナンス中|sedang (?:dalam )?(?:perbaikan|pemeliharaan)/iu,
];

/** Returns true for titles of a page of a site that is overloaded or closed for a while. */
export function isBusy(titles: string): boolean {
  return busyTitles.some((pattern) => pattern.test(titles));
}

/** Titles and headings of searches without results, by language. */
const noResults: readonly RegExp[] = [
  /^(?:(?:sorry|oops)[\s,.!:]*)?(?:no|0) (?:(?:search |matching )?(?:results?|products?|items?|matches))(?: (?:were |was )?found)?(?=$|[\s.,:!])/im,
  /^(?:your search .{0,100} (?:did not match|returned no)|we (?:couldn['’]t|could not|did not) find any)/im,
  /^(?:leider )?(?:keine|0) (?:ergebnisse|treffer|produkte|artikel)/im,
  /^(?:aucun|0) (?:résultat|produit|article)/imu,
  /^(?:sin|0|no hay|ningún) resultados?|^no se (?:han encontrado|encontraron) (?:resultados|productos)/imu,
  /^(?:nessun|0) (?:risultat|prodott)[oi]/im,
  /^(?:nenhum|0) (?:resultado|produto)/im,
  /^(?:geen|0) (?:resultaten|producten)|^(?:brak|0) (?:wyników|produktów)/imu,
  /^(?:inga|ingen|0) (?:träffar|resultat(?:er)?|produkter)/imu,
  /^ничего не найдено|(?:該当する|検索)(?:商品|結果).{0,20}(?:ありません|見つかりません)/imu,
  /^(?:tidak ada|0) (?:hasil|produk)|^(?:không (?:có|tìm thấy)) (?:kết quả|sản phẩm)/imu,
];

/** Returns true for titles of a search without results. */
export function saysNoResults(titles: string): boolean {
  return noResults.some((pattern) => pattern.test(titles));
}
