import { anyOf } from './patterns.ts';

/** Headings of lists of other products, by language. */
const spaced = anyOf(
  [
    // English
    'you(?: may| might)(?: also| just)? (?:like|love|enjoy|need|be interested in)',
    "you(?:['’]ll| will)? also (?:like|love|need)",
    '(?:customers|people|others|shoppers|buyers)(?: (?:who|that) \\w+ th(?:is|ese)(?: \\w+)?)?(?: also)? (?:like|love|bought|buy|viewed|view|purchased|considered)',
    '(?:(?:related|similar|recommended|suggested|alternative|featured|popular|trending|recently viewed|best[- ]?selling|more|other) )+(?:products?|items?|styles?|articles?|models?|for you|like this|from|by|to (?:love|explore|consider))',
    '(?:our |more |product )?recommendations',
    'recommended$',
    'recently viewed',
    'frequently bought',
    'we (?:also )?recommend',
    'alternatives',
    'best ?sellers',
    'try (?:this|these|one of these)',
    'consider (?:this|these)',
    'complete (?:the|your) (?:look|set)',
    'goes well with',
    'pairs well with',
    // German
    'das könnte (?:ihnen|dir|dich|sie|euch)',
    '(?:ähnliche|weitere|verwandte|empfohlene|passende|alternative) (?:produkte|artikel|angebote)',
    '(?:kunden|andere)(?: kunden)?,? (?:kauften|die|sahen|haben)',
    '(?:unsere |weitere )?empfehlungen',
    'wir empfehlen',
    'alternativen',
    'zuletzt angesehen',
    'passend dazu',
    'wird oft zusammen',
    // French
    'vous (?:aimerez|aimeriez|pourriez|allez) (?:aussi|peut-être|également|aimer)',
    '(?:produits|articles) (?:similaires|associés|recommandés|complémentaires|consultés|liés)',
    '(?:les |nos )?clients (?:ayant|ont)',
    '(?:nos |ces )?recommandations',
    'récemment (?:vus?|consultés?)',
    "d['’]autres (?:produits|articles)",
    // Spanish
    '(?:quizás |tal vez )?también (?:te|le|podría|puede)',
    '(?:te|le) puede(?:n)? (?:interesar|gustar)',
    '(?:productos|artículos) (?:relacionados|similares|recomendados|vistos)',
    '(?:otros|los) clientes (?:también|que)',
    'recomendad[oa]s',
    'vistos recientemente',
    // Italian
    '(?:ti )?potrebbe(?:ro)? (?:anche )?(?:piacerti|interessarti|piacere)',
    '(?:prodotti|articoli) (?:correlati|simili|consigliati)',
    '(?:i )?clienti (?:che|hanno)',
    'visti di recente',
    'consigliati',
    // Portuguese
    '(?:você |tu )?(?:também |talvez )+(?:pode|poderá|vai|goste)',
    '(?:produtos|artigos) (?:relacionados|semelhantes|similares|recomendados)',
    'quem (?:viu|comprou)',
    '(?:vistos|visto) recentemente',
    // Dutch
    '(?:dit |misschien |wellicht )?vind je (?:dit |deze )?(?:ook|misschien)',
    '(?:vergelijkbare|gerelateerde|aanbevolen|soortgelijke|andere) (?:producten|artikelen)',
    '(?:anderen|klanten) (?:bekeken|kochten)',
    'ook interessant',
    'recent bekeken',
    // Polish
    '(?:może|mogą) (?:ci|cię|ciebie|państwa|też|również)',
    '(?:produkty )?(?:podobne|powiązane|polecane)(?: produkty)?',
    '(?:inni |nasi )?klienci (?:kupili|oglądali)',
    '(?:inni )?(?:kupili|oglądali) również',
    'ostatnio (?:oglądane|przeglądane)',
    // Czech and Slovak
    '(?:mohlo by|mohli by)',
    '(?:podobné|související|súvisiace|doporučené|odporúčané) (?:produkty|zboží|tovar)',
    'zákazníci (?:také|tiež)',
    'naposledy (?:prohlížené|navštívené)',
    // Russian
    'похожие (?:товары|модели)',
    'с этим товаром',
    '(?:мы )?рекомендуем',
    'рекомендуемые',
    'вам (?:также )?(?:может|могут|понрав)',
    'недавно просмотренные',
    'вы (?:недавно )?смотрели',
    // Indonesian, Malay, Vietnamese
    'produk (?:terkait|serupa|lainnya|sejenis|lain dari|rekomendasi|berkaitan)',
    'rekomendasi (?:untuk|produk)',
    '(?:kamu |anda )?mungkin (?:kamu |anda )?(?:juga )?(?:suka|minat)',
    'sản phẩm (?:liên quan|tương tự|gợi ý|khác|đã xem)',
    'có thể bạn',
    'gợi ý (?:cho|sản phẩm)',
    // Swedish, Danish, Norwegian, Finnish
    '(?:liknande|relaterade|rekommenderade|andra) (?:produkter|artiklar)',
    'du (?:kanske )?(?:också|gillar)',
    'andra (?:köpte|tittade)',
    '(?:lignende|relaterede|relaterte|anbefalede|anbefalte|andre) (?:produkter|varer)',
    '(?:andre|kunder) (?:kjøpte|købte|så)',
    'samankaltaisia tuotteita',
    'saatat (?:myös )?pitää',
  ],
  { flags: 'iu', before: '^', after: '(?!\\p{L})' },
);
/** Headings in languages that do not separate words. */
const unspaced = anyOf(
  [
    '(?:関連|類似|おすすめ|オススメ|こちらも)(?:の)?(?:商品|アイテム|おすすめ)',
    'この商品を(?:買った|見た|チェックした)',
    '最近(?:見た|チェックした)',
    'あなたへのおすすめ',
    '(?:추천|관련|비슷한|유사한) ?상품',
    '함께 (?:본|구매한|많이)',
    '최근 본',
    '猜你喜[歡欢]',
    '(?:推[薦荐]|相[關关]|相似|[類类]似)(?:商品|[產产]品)',
    '[您你]可能(?:也|[會会])',
    '[為为](?:您|你)推[薦荐]',
    '看了又看',
    '最近[瀏浏][覽览]',
    '(?:สินค้า(?:ที่)?(?:เกี่ยวข้อง|แนะนำ|ใกล้เคียง|คล้าย)|คุณอาจ)',
  ],
  { flags: 'u', before: '^' },
);

/** Returns true for the heading of a list of other products: "You may also like". */
export const isOtherProducts = (heading: string): boolean =>
  spaced.test(heading) || unspaced.test(heading);
