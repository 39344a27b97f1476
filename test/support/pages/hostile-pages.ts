/**
 * Families of pages that look for the worst case of a reader. Each page has about `bytes` bytes.
 */
export const hostilePages: Readonly<Record<string, (bytes: number) => string>> = {
  'elements in elements': (bytes) =>
    fill(bytes, nested('<div class="a product price">', '</div>', '1')),
  'one element in another': (bytes) => fill(bytes, '<div class="price"><b>1</b></div>'),
  'open elements': (bytes) => fill(bytes, '<b>'.repeat(380) + '</b>'.repeat(380)),
  'repeated ids': (bytes) => fill(bytes, nested('<p id="price">', '</p>', '1')),
  'one id in many places': (bytes) => fill(bytes, '<p id="feature-bullets"><li>1</li></p>'),
  'different ids': (bytes) =>
    many(bytes, (index) => `<p id="TabbedDescriptionOverviewContent${index}">1</p>`),
  'many scripts': (bytes) => fill(bytes, '<script>var state = {"a": "</script>'),
  'many JSON scripts': (bytes) => fill(bytes, '<script type="application/json">{"a": 1}</script>'),
  'many markers': (bytes) => `<script>${fill(bytes, 'state = {"a": \'_ROUTER_DATA = {')}</script>`,
  'markers in many scripts': (bytes) => fill(bytes, `<script>${'state={"a":'.repeat(40)}</script>`),
  'many assignments': (bytes) =>
    many(bytes, (index) => `<script>name${index} = {"a": ["b", 'c'], "parentAsin" : "</script>`),
  'a long attribute': (bytes) => `<body class="${fill(bytes, 'a price ')}"><h1 id="title">1</h1>`,
  'many attributes': (bytes) => `<p ${many(bytes, (index) => `a${index}=${index} `)}>`,
  'a long word': (bytes) => `<h1 class="price">${fill(bytes, '1.')}</h1>`,
  'a long number': (bytes) => `<h1 class="price">${fill(bytes, '1')}</h1>`,
  'a long text of spaces': (bytes) => `<h1 class="price">1${fill(bytes, ' \u00a0')}1</h1>`,
  'a long text of marks': (bytes) => `<h1 class="price">${fill(bytes, "1,' - ")}</h1>`,
  'brackets of tags': (bytes) => fill(bytes, '<'),
  'open tags': (bytes) => fill(bytes, '<a x="'),
  'open comments': (bytes) => fill(bytes, '<!--'),
  comments: (bytes) => fill(bytes, '<!---->'),
  'references to characters': (bytes) => fill(bytes, '&amp;&#x26;&not;'),
  'open titles': (bytes) => fill(bytes, '<title>a'),
  'many headings': (bytes) => fill(bytes, '<h1>a mug</h1><h2>b</h2>'),
  'many links': (bytes) => fill(bytes, '<a href="/dp/B0GLN01705?seller=A1B2C3D4E5">a</a>'),
  'many cards': (bytes) =>
    fill(
      bytes,
      '<li class="card" data-asin="B0GLN01705"><h2>a</h2><a href="/dp/B0GLN01705"><i class="a-price">$1.99</i></a></li>',
    ),
  'cards in cards': (bytes) =>
    fill(
      bytes,
      nested(
        '<div class="card s-result-item" data-asin="B0GLN01705"><a href=x>',
        '</div>',
        '$1',
        150,
      ),
    ),
  'many rows': (bytes) =>
    `<table class="prodDetTable">${fill(bytes, '<tr><th>a</th><td>b</td></tr>')}</table>`,
  'many previews': (bytes) => fill(bytes, '<meta property="og:image" content="x">'),
  'a path of tags': (bytes) => many(bytes, (index) => `<x${index}></x${index}>`),
};

/** Families of JSON pages. */
export const hostileJson: Readonly<Record<string, (bytes: number) => string>> = {
  'long integers': (bytes) => `[${fill(bytes, '1,')}9999999999999999]`,
  'many long integers': (bytes) => `[${fill(bytes, '9999999999999999,')}1]`,
  'many strings': (bytes) => `{"data":{"a":[${fill(bytes, '"a",')}"b"],"id":9999999999999999}}`,
  'many names': (bytes) =>
    `{"data":{${many(bytes, (index) => `"a${index}":${index},`)}"id":9999999999999999}}`,
  'many objects': (bytes) =>
    `{"items":[${fill(Math.min(bytes, 700_000), '{},')}{}], "a": "${fill(bytes, 'a')}"}`,
  'open brackets': (bytes) => fill(bytes, '['),
  escapes: (bytes) => `{"a":"${fill(bytes, '\\"')}"}`,
};

function fill(bytes: number, unit: string): string {
  return unit.repeat(Math.ceil(bytes / unit.length));
}

function many(bytes: number, unit: (index: number) => string): string {
  const units: string[] = [];
  for (let length = 0; length < bytes; length += units.at(-1)!.length)
    units.push(unit(units.length));
  return units.join('');
}

function nested(open: string, close: string, inner: string, depth = 380): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}
