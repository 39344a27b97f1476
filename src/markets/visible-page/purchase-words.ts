import { anyOf } from '../patterns.ts';

// Texts and names of controls that buy a product, in the languages of shops.

/** Texts of controls that put a product into a cart, also with its name in the middle. */
const cartWords = anyOf(
  [
    'add(?: item| .{1,150})? to (?:my |your |the )?(?:shopping )?(?:cart|bag|basket|trolley|order)',
    'in den (?:warenkorb|einkaufswagen|korb)',
    'ajouter(?: .{1,150})? (?:au|à mon|dans le) panier',
    '(?:añadir|agregar|sumar)(?: .{1,150})? al? (?:la )?(?:carrito|carro|cesta|bolsa)$',
    'aggiungi(?: .{1,150})? al (?:carrello|cesto)',
    '(?:adicionar|colocar|pôr)(?: .{1,150})? (?:ao|no|à|na) (?:carrinho|cesto|cesta|sacola)',
    'in (?:de |mijn |het )?(?:winkelwagen|winkelmand|winkelmandje|mandje)',
    'toevoegen aan winkel',
    'do koszyka',
    'do koš[ií]k[ua]',
    'v košarico',
    'v voziček',
    'u košaricu',
    'u korpu',
    'у корпу',
    'kosárba',
    'în coş',
    'în coș',
    'в (?:корзину|кошик|количката)',
    '(?:до|у) кошика?',
    'sepete ekle',
    'στο καλάθι',
    'lägg i (?:varukorg|kundvagn)',
    'læg i kurv',
    'legg i handle(?:kurv|vogn)',
    'ostoskoriin',
    'lisää koriin',
    'lisa (?:ostu)?korvi',
    '(?:likt|pievienot) grozā',
    '(?:įdėti )?į krepšelį',
    '(?:tambah|masukkan|\\+) ?(?:ke )?keranjang',
    '(?:thêm )?vào giỏ',
    'ใส่(?:รถเข็น|ตะกร้า)',
    '(?:加入|放入)(?:購物車|购物车|購物籃)',
    'カートに(?:入れる|追加)',
    'かごに入れる',
    '장바구니(?:에)? ?(?:담기|추가)',
    'أضف (?:إلى|الى) (?:السلة|عربة)',
    'הוסף לסל',
    'הוספה לסל',
  ],
  { flags: 'iu' },
);

/** Texts of controls that buy a product. */
const orderWords = anyOf(
  [
    '^(?:buy(?: it| this)?(?: now)?|order now|add|purchase|buy tickets?)$',
    '^(?:jetzt |sofort[- ]?)?(?:kaufen|bestellen)$',
    "^(?:acheter(?: maintenant)?|ajouter|commander|j['’]achète)$",
    '^(?:comprar|añadir|agregar|sumar|encomendar)(?: ahora| agora| já| entradas?)?$',
    '^(?:acquista|compra|ordina)(?: ora| subito)?$',
    '^(?:bestel|koop)(?: nu)?$',
    '^(?:kup(?: teraz)?|zamów|k(?:ú|ou)pi[ťt]|objednať|objednat|kupi|naroči)$',
    '^(?:купить|купити|купи|поръчай|satın al|megveszem|megrendelem|cumpără(?: acum)?|αγορά)$',
    '^(?:köp|køb|kjøp|osta)(?: nu| nå| nyt)?$',
    '^(?:pirkt|pirkti)$',
    '^(?:beli(?: sekarang)?|mua(?: ngay| hàng)?)$',
    '^구매',
    '바로구매',
    '^ซื้อ',
    '^اشتري الآن$',
    '^(?:立即|馬上|立刻|我要|直接)?(?:購買|购买|結帳|订购|訂購)$',
    '^(?:今すぐ)?(?:購入|買う)',
  ],
  { flags: 'iu' },
);

/** First words of the texts of links to the cart. */
const viewWords = anyOf(
  [
    'view',
    'go to',
    'show',
    'see',
    'open',
    'zum',
    'zur',
    'ansehen',
    'przejdź',
    'zobacz',
    'pokaż',
    'перейти',
    'посмотреть',
    'смотреть',
    'přejít',
    'prejsť',
    'zobrazi[tť]',
    'vaata',
    'mine',
    'siirry',
    'näytä',
    'poglej',
    'pogledaj',
    'idi',
    'gå til',
    'gå till',
    'visa',
    'voir',
    'ver',
    'vai al',
    'vedi',
    'ir al?',
    'ir para',
    'bekijk',
    'naar',
    'vezi',
    'lihat',
    'xem',
    '查看',
    '前往',
  ],
  { flags: 'iu', before: '^', after: '(?!\\p{L})' },
);

/** Returns true for the text of a control that puts a product into a cart. */
export const isCartText = (text: string): boolean => cartWords.test(text) && !viewWords.test(text);

/** Returns true for the text of a control that buys a product or puts it into a cart. */
export const isBuyText = (text: string): boolean => isCartText(text) || orderWords.test(text);

/** Texts of controls that write to or call the seller of an ad. */
export const contactWords = anyOf(
  [
    '^(?:reply|(?:contact|message|call|e-?mail) (?:the )?(?:seller|owner|advertiser))$',
    '^send (?:a )?message(?: to (?:the )?seller)?$',
    '^(?:(?:verkäufer|anbieter|inserenten) )?kontaktieren$',
    '^nachricht (?:senden|schreiben)$',
    "^contacter(?: le vendeur| l['’]annonceur)?$",
    '^envoyer un message$',
    '^contactar(?: (?:con el|al|o) (?:vendedor|anunciante))?$',
    '^contatta(?: (?:il venditore|l.inserzionista))?$',
    '^(?:stuur )?bericht(?: sturen)?$',
    '^napisz(?: do sprzedającego)?$',
    '^kontaktovat prodejce$',
    '^(?:написать(?: продавцу)?|связаться с продавцом|позвонить)$',
    '^kontakta säljaren$',
    '^kontakt sælger$',
  ],
  { flags: 'iu' },
);

/** Texts of controls that compare the offers of several shops. */
export const compareWords = anyOf(
  [
    '^(?:compare|view|see|show) (?:all )?(?:prices|offers|shops|deals)',
    '^(?:alle )?(?:preise|angebote) (?:vergleichen|anzeigen)',
    '^comparer (?:les |tous les )?(?:prix|offres)',
    '^comparar (?:los |todos los |os )?(?:precios|preços)',
    '^confronta (?:i )?prezzi',
    '^(?:alle )?prijzen vergelijken',
    '^porównaj (?:ceny|oferty)',
    '^porovn(?:at|ať|ání) (?:ceny|cen)',
    '^(?:сравнить|все|смотреть) (?:все )?(?:цены|предложения)',
    '^порівняти ціни',
    '^jämför (?:alla )?priser',
    '^價格比較',
    '^比價',
    '^価格を比較',
  ],
  { flags: 'iu' },
);

/** Names, ids, classes, and addresses of such controls and of their forms. */
export const buyNames = anyOf(
  [
    '(?:^|[\\s_-])(?:add|put)[_-]?(?:to|2)[_-]?(?:shopping[_-]?)?(?:cart|basket|bag)',
    'addtocart',
    'addtobasket',
    'addtobag',
    '(?:btn|button)[_-]?(?:add[_-]?)?(?:cart|basket|buy)',
    'buy[_-]?(?:now|btn|button)',
    '(?:cart|buy)[_-]?(?:btn|button)',
  ],
  { flags: 'i' },
);

/** Calls of functions in links and handlers of such controls. */
export const buyCalls = anyOf(
  [
    'add_?(?:item_?|product_?)?to_?(?:cart|basket|bag)',
    'add_?cart',
    'cart\\.add',
    'buy(?:_?(?:now|process|product|item|it))?',
  ],
  { flags: 'i', before: '\\b', after: '\\s?\\(' },
);

export const buyActions =
  /\/(?:cart|basket|warenkorb|panier|carrello|checkout\/cart)\/add|[?&]add-to-cart=/i;

/** Addresses of the cart. */
export const cartAddress = anyOf(
  [
    'cart',
    'basket',
    'bag',
    'checkout/cart',
    'warenkorb',
    'panier',
    'carrito',
    'carrello',
    'carrinho',
    'winkelwagen',
    'koszyk',
    'ko[sš][ií]k',
    'sepet',
  ],
  { flags: 'i', before: '(?:^|/)', after: '(?:\\.\\w{2,5})?/?(?:[?#]|$)' },
);

/** Texts of controls and marks of products that cannot be bought. */
export const soldOutWords = anyOf(
  [
    'sold ?out',
    'out of stock',
    '(?:currently |temporarily )?unavailable',
    'notify me(?: when available)?',
    'email me when available',
    'ausverkauft',
    'nicht (?:verfügbar|lieferbar)',
    'épuisé',
    'rupture de stock',
    'indisponible',
    'agotado',
    'sin stock',
    'esaurito',
    'non disponibile',
    'esgotado',
    'uitverkocht',
    'wyprzedane',
    'vypredané',
    'vyprodáno',
    'slutsåld',
    'udsolgt',
    'utsolgt',
    'нет в наличии',
    'нет на складе',
    '售完',
    '已售完',
    '缺貨',
    '補貨中',
    '売り切れ',
    '在庫切れ',
    '품절',
    'habis',
    'hết hàng',
  ],
  { flags: 'iu', before: '^', after: '$' },
);
