/** Creates an element with children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) created.setAttribute(key, value!);
  created.append(...children);
  return created;
}

const inline = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)]+)\)/g;

/** Returns the nodes of a line of Markdown: code, strong text, and links. */
export function inlineNodes(text: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let at = 0;
  for (const match of text.matchAll(inline)) {
    const [matchedText, code, strong, label, href] = match;
    nodes.push(text.slice(at, match.index));
    if (code !== undefined) nodes.push(element('code', {}, code));
    else if (strong !== undefined) nodes.push(element('strong', {}, strong));
    else nodes.push(element('a', { href: href! }, label!));
    at = match.index + matchedText.length;
  }
  return [...nodes, text.slice(at)];
}

/**
 * Returns the nodes of a Markdown text with the marks that the documents use: headings, paragraphs,
 * numbered lists, and fenced code.
 */
export function blockNodes(text: string): Node[] {
  return text.split(/(^```[\s\S]*?^```$)|\n{2,}/m).flatMap((block): Node[] => {
    const trimmed = block?.trim();
    if (!trimmed) return [];
    const code = /^```\w*\n([\s\S]*)\n```$/.exec(trimmed)?.[1];
    if (code !== undefined) return [element('pre', { tabindex: '0' }, element('code', {}, code))];
    const heading = /^## (.*)$/.exec(trimmed)?.[1];
    if (heading !== undefined) return [element('h2', {}, heading)];
    if (/^1\. /.test(trimmed)) {
      const entries = trimmed.split(/^\d+\. /m).slice(1);
      return [
        element(
          'ol',
          {},
          ...entries.map((entry) => element('li', {}, ...inlineNodes(entry.trim()))),
        ),
      ];
    }
    return [element('p', {}, ...inlineNodes(trimmed))];
  });
}
