/** Words of pages of shops in many languages, by what they mark. */

/** Texts of controls that put a product into a cart, also with its name in the middle. */
const cartWords = new RegExp(
  [
    'add(?: item| .{1,150})? to (?:my |your |the )?(?:shopping )?(?:cart|bag|basket|trolley|order)',
    'in den (?:warenkorb|einkaufswagen|korb)',
    'ajouter(?: .{1,150})? (?:au|à mon|dans le) panier',
    '(?:añadir|agregar|sumar)(?: .{1,150})? al? (?:la )?(?:carrito|carro|cesta|bolsa)$',
    'aggiungi(?: .{1,150})? al (?:carrello|cesto)',
    '(?:adicionar|colocar|pôr)(?: .{1,150})? (?:ao|no|à|na) (?:carrinho|cesto|cesta|sacola)',
    'in (?:de |mijn |het )?(?:winkelwagen|winkelmand|winkelmandje|mandje)|toevoegen aan winkel',
    'do koszyka|do koš[ií]k[ua]|v košarico|v voziček|u košaricu|u korpu|у корпу',
    'kosárba|în coş|în coș|в (?:корзину|кошик|количката)|(?:до|у) кошика?|sepete ekle|στο καλάθι',
    'lägg i (?:varukorg|kundvagn)|læg i kurv|legg i handle(?:kurv|vogn)|ostoskoriin|lisää koriin',
    'lisa (?:ostu)?korvi|(?:likt|pievienot) grozā|(?:įdėti )?į krepšelį',
    '(?:tambah|masukkan|\\+) ?(?:ke )?keranjang|(?:thêm )?vào giỏ|ใส่(?:รถเข็น|ตะกร้า)',
    '(?:加入|放入)(?:購物車|购物车|購物籃)|カートに(?:入れる|追加)|かごに入れる|장바구니(?:에)? ?(?:담기|추가)',
    'أضف (?:إلى|الى) (?:السلة|عربة)|הוסף לסל|הוספה לסל',
  ].join('|'),
  'iu',
);

/** Texts of controls that buy a product. */
const orderWords = new RegExp(
  [
    '^(?:buy(?: it| this)?(?: now)?|order now|add|purchase|buy tickets?)$',
    '^(?:jetzt |sofort[- ]?)?(?:kaufen|bestellen)$',
    "^(?:acheter(?: maintenant)?|ajouter|commander|j['’]achète)$",
    '^(?:comprar|añadir|agregar|sumar|encomendar)(?: ahora| agora| já| entradas?)?$',
    '^(?:acquista|compra|ordina)(?: ora| subito)?$|^(?:bestel|koop)(?: nu)?$',
    '^(?:kup(?: teraz)?|zamów|k(?:ú|ou)pi[ťt]|objednať|objednat|kupi|naroči)$',
    '^(?:купить|купити|купи|поръчай|satın al|megveszem|megrendelem|cumpără(?: acum)?|αγορά)$',
    '^(?:köp|køb|kjøp|osta)(?: nu| nå| nyt)?$|^(?:pirkt|pirkti)$',
    '^(?:beli(?: sekarang)?|mua(?: ngay| hàng)?)$|^구매|바로구매|^ซื้อ|^اشتري الآن$',
    '^(?:立即|馬上|立刻|我要|直接)?(?:購買|购买|結帳|订购|訂購)$|^(?:今すぐ)?(?:購入|買う)',
  ].join('|'),
  'iu',
);

/** First words of the texts of links to the cart. */
const viewWords =
  /^(?:view|go to|show|see|open|zum|zur|ansehen|przejdź|zobacz|pokaż|перейти|посмотреть|смотреть|přejít|prejsť|zobrazi[tť]|vaata|mine|siirry|näytä|poglej|pogledaj|idi|gå til|gå till|visa|voir|ver|vai al|vedi|ir al?|ir para|bekijk|naar|vezi|lihat|xem|查看|前往)(?!\p{L})/iu;

/** Returns true for the text of a control that puts a product into a cart. */
export const isCartText = (text: string): boolean => cartWords.test(text) && !viewWords.test(text);

/** Returns true for the text of a control that buys a product or puts it into a cart. */
export const isBuyText = (text: string): boolean => isCartText(text) || orderWords.test(text);

/** Texts of controls that write to or call the seller of an ad. */
export const contactWords = new RegExp(
  [
    '^(?:reply|(?:contact|message|call|e-?mail) (?:the )?(?:seller|owner|advertiser))$',
    '^send (?:a )?message(?: to (?:the )?seller)?$',
    '^(?:(?:verkäufer|anbieter|inserenten) )?kontaktieren$|^nachricht (?:senden|schreiben)$',
    "^contacter(?: le vendeur| l['’]annonceur)?$|^envoyer un message$",
    '^contactar(?: (?:con el|al|o) (?:vendedor|anunciante))?$|^contatta(?: (?:il venditore|l.inserzionista))?$',
    '^(?:stuur )?bericht(?: sturen)?$|^napisz(?: do sprzedającego)?$|^kontaktovat prodejce$',
    '^(?:написать(?: продавцу)?|связаться с продавцом|позвонить)$|^kontakta säljaren$|^kontakt sælger$',
  ].join('|'),
  'iu',
);

/** Texts of controls that compare the offers of several shops. */
export const compareWords = new RegExp(
  [
    '^(?:compare|view|see|show) (?:all )?(?:prices|offers|shops|deals)|^(?:alle )?(?:preise|angebote) (?:vergleichen|anzeigen)',
    '^comparer (?:les |tous les )?(?:prix|offres)|^comparar (?:los |todos los |os )?(?:precios|preços)',
    '^confronta (?:i )?prezzi|^(?:alle )?prijzen vergelijken|^porównaj (?:ceny|oferty)|^porovn(?:at|ať|ání) (?:ceny|cen)',
    '^(?:сравнить|все|смотреть) (?:все )?(?:цены|предложения)|^порівняти ціни|^jämför (?:alla )?priser|^價格比較|^比價|^価格を比較',
  ].join('|'),
  'iu',
);

/** Names, ids, classes, and addresses of such controls and of their forms. */
export const buyNames =
  /(?:^|[\s_-])(?:add|put)[_-]?(?:to|2)[_-]?(?:shopping[_-]?)?(?:cart|basket|bag)|addtocart|addtobasket|addtobag|(?:btn|button)[_-]?(?:add[_-]?)?(?:cart|basket|buy)|buy[_-]?(?:now|btn|button)|(?:cart|buy)[_-]?(?:btn|button)/i;
/** Calls of functions in links and handlers of such controls. */
export const buyCalls =
  /\b(?:add_?(?:item_?|product_?)?to_?(?:cart|basket|bag)|add_?cart|cart\.add|buy(?:_?(?:now|process|product|item|it))?)\s?\(/i;
export const buyActions =
  /\/(?:cart|basket|warenkorb|panier|carrello|checkout\/cart)\/add|[?&]add-to-cart=/i;

/** Texts of controls and marks of products that cannot be bought. */
export const soldOutWords =
  /^(?:sold ?out|out of stock|(?:currently |temporarily )?unavailable|notify me(?: when available)?|email me when available|ausverkauft|nicht (?:verfügbar|lieferbar)|épuisé|rupture de stock|indisponible|agotado|sin stock|esaurito|non disponibile|esgotado|uitverkocht|wyprzedane|vypredané|vyprodáno|slutsåld|udsolgt|utsolgt|нет в наличии|нет на складе|售完|已售完|缺貨|補貨中|売り切れ|在庫切れ|품절|habis|hết hàng)$/iu;

/** Names of regions of a page that show the cart, or that put a product into it. */
export const cartRegions =
  /(?:^|[\s_-])(?:mini-?_?(?:cart|basket|bag)|(?:cart|basket|bag)[_-]?(?:total|summary|preview|drawer|dropdown|subtotal|widget|sidebar|content|list|popup))(?=$|[\s_-])/iu;
/** Names of regions of a page that show other products. */
export const otherRegions =
  /(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|megamenu|footer|related\w*|recommend\w*|recomend\w*|upsells?|cross-?_?sells?|crossselling|similar\w*|recent(?:ly)?(?:[_-]?view\w*)?|viewed|also|alsobought|carousel|bestsell\w*|best-sell\w*|suggest\w*|sponsored|review[s]?|comments?|accessor(?:y|ies)|bundles?|newsletter|history|ähnlich\w*|empfehl\w*|alternativ\w*|poleca\w*|podobn\w*|souvis\w*)(?=$|[\s_-])/iu;

/** Names of elements with a price. */
export const priceNames =
  /price|preis|prix|precio|preco|prezzo|prijs|cena|ceny|\bpris\b|amount|harga|tarif/i;
/** Names of elements with a price that was. */
export const oldPriceNames =
  /(?:^|[\s_-]|price)(?:old|was|before|strike\w*|struck|crossed|through|rrp|msrp|uvp|compare\w*|prev(?:ious)?|stara|skreslen\w*|barre\w*|tachad\w*|anterior|antes|riscad\w*|streich\w*|durchgestrichen|doorgestreept|przekre\w*|puvodn\w*|povodn\w*|listino)(?=$|[\s_-]|price)/i;
/** Names of elements with a price of something else. */
export const otherPriceNames =
  /(?:^|[\s_-]|price)(?:sav(?:e|ing|ings)|discount-(?:amount|value)|shipping|delivery|unit|per-unit|unitprice|install?ments?|monthly|financ\w*|excl\w*|without|exc?-?tax|deposit|threshold|points?|netto|min|max|from|coupon|total)(?=$|[\s_-]|price)/i;
export const weakOldNames =
  /(?:^|[\s_-])(?:regular|list|original|normal|full|retail|market|base|standard)(?=$|[\s_-])/i;
/** Names of elements with the price to pay. */
export const ownPriceNames =
  /(?:^|[\s_-])(?:final|finalprice|current|sales?|special|now|actual|our|main|selling|sell|promo|akce|akcia|product)(?=$|[\s_-]|price)/i;
/** Texts before a price that is not the price to pay. */
export const otherPriceWords =
  /(?<!\p{L})(?:was|sav(?:e|ing|ings)|rrp|msrp|list price|uvp|statt|risparmi|économisez|shipping|delivery|versand\p{L}*|livraison|porto|envío|spedizione|monthly|raten?|install?ments?|mensualit\p{L}*|cuotas?|deposit|starting price|reserve|bids?|excl\p{L}*|ohne|hors taxes?|HT|bez dph|brez ddv|netto|from|ab|à partir|desde|ex\.? (?:vat|tax)|points?|cashback|voucher|coupon|gutschein|minimum|over|above|more than)(?!\p{L})|運\s?費|免運|宅配|取貨|原價|定價|市價|建議售價|每期|送料|配送|滿/iu;
/** Texts after a price of a period, of a quantity, or without tax. */
export const periodWords =
  /^\s*(?:\/|起|(?:per|pro|par|al|a|por|je)\s|(?:mese|month|monat|mois|mes|kg|100 ?(?:g|ml))(?!\p{L})|(?:off|rabatt|less|korting)(?!\p{L})|(?:hors taxes?|HT|bez dph|brez ddv|netto|excl\p{L}*(?: (?:vat|tax))?|ex\.? (?:vat|tax))(?!\p{L}|\s?:))/iu;

/** Words that mark a price as excluding tax. */
export const untaxedWords =
  /(?<!\p{L})(?:(?:excl\.?|excluding|ex\.?) (?:vat|tax|gst|btw)|(?:zzgl\.?|ohne|exkl\.?) (?:mwst|ust|moms)|ekskl\.? (?:moms|mva)|zonder btw|hors taxes?|HT|sans tva|bez (?:dph|vat|pdv)|brez ddv|sin iva|(?:más|mais|\+) iva|iva (?:no incluido|esclusa|excluído)|netto|без (?:ндс|пдв))(?!\p{L})|税抜|税別|未稅/iu;
/** Words that mark a price as including tax. */
export const taxedWords =
  /(?<!\p{L})(?:(?:incl?\.?|including|inkl\.?|inklusive|inclusief|vč\.?|včetně|s|z|sa|con|avec|com|med|cu|mit|с) (?:\d+ ?% )?(?:vat|tax|gst|btw|dph|ddv|pdv|iva|tva|moms|mva|mwst|ust|ндс)|iva (?:incluido|inclusa|incluído)|(?:vat|tax) included|TTC|brutto)(?!\p{L})|税込|含稅/iu;

/** Names and texts of elements that state whether a product is in stock. */
export const stockNames =
  /stock|avail|verf(?:ü|ue)gbar|lieferbar|lager|dispo(?:nib|s\b)|dostup|skladem|sklad\b|voorraad|nalich|zaloha/i;
export const stockLabels =
  /^(?:stock|availability|verfügbarkeit|lieferbarkeit|disponibilit[éàa]|disponibilidad|disponibilidade|beschikbaarheid|dostupnos[ťt]|dostępność|razpoložljivost|наличие|availability status|庫存|在庫)\s*[:：]?\s*/iu;

/** Labels of the number under which a shop sells a product. */
export const skuLabels =
  /^(?:(?:product |item |web |catalog(?:ue)? )?sku|art(?:ikel|icle|icolo|ículo)?[.\s-]{0,2}(?:nr|no|n°|nummer|number|code|#)|artikelnummer|artikelnr|bestell[- ]?(?:nr|nummer)|(?:ebay )?(?:item|artikel|objekt)(?:\s?(?:#|no|number|nummer|code|id))|numéro de l'objet(?: ebay)?|(?:product|produkt|catalog|model|style|stock|web|post|lot|listing|ad|anzeigen?)[ -]?(?:code|id|no|nr|number|nummer|#)|produktnummer|ref(?:erence|erencia|érence|erência)?|réf|código|cod(?:ice)?(?: articolo| prodotto)?|kód(?: produktu| tovaru| zboží)?|katalogové číslo|objednací číslo|šifra(?: artikla| izdelka)?|kod produktu|indeks|код(?: товара)?|артикул|anzeige|商品(?:編號|番号|コード|编号|代碼|型號)|品番|상품번호|tuotekoodi|varenr|varenummer|art nr|bestelnummer)\s*\.?\s*[:：#–-]*\s*/iu;
/** Names of elements with such a number. */
export const skuNames =
  /(?:^|[\s_-])(?:sku|article(?:[_-]?(?:number|no|nr|code|id))?|artikel(?:nummer|nr)|(?:product|item)[_-]?(?:code|ref|reference|number|sku)|productcode|itemcode)(?:[_-]?(?:value|text))?(?=$|\s)/i;
