/** A token of a path template; a word is a literal or a field name. */
export type Token = { kind: '/' | '*' | '**' | '{' | '}' | '=' | ':' } | { kind: 'word'; text: string };

const symbols = /(\*\*|[/*{}=:])|([A-Za-z0-9_.~$@!&'()+,;%-]+)/y;

/** Splits a google.api.http path template into tokens. Throws an Error with the template and the position. */
export function scan(template: string): Token[] {
  const tokens: Token[] = [];
  symbols.lastIndex = 0;
  while (symbols.lastIndex < template.length) {
    const at = symbols.lastIndex;
    const match = symbols.exec(template);
    if (match === null) throw new Error(`path template ${template}: unexpected "${template[at]}" at ${at}`);
    const [, symbol, text] = match;
    tokens.push(text === undefined ? { kind: symbol as '/' } : { kind: 'word', text });
  }
  return tokens;
}
