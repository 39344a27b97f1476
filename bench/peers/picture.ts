const width = 960;
const labelWidth = 210;
const gap = 24;
const barHeight = 22;
const rowHeight = 34;
const top = 56;

/** Figures of a tool. */
export interface Figures {
  name: string;
  pagesPerSecond: number;
  /** Processor time per page in microseconds. */
  processorUs: number;
  /** Highest memory in bytes, with shared pages counted once. */
  peakBytes: number;
}

interface Panel {
  title: string;
  figureOf(result: Figures): number;
}

const panels: readonly Panel[] = [
  { title: 'pages per second (more is better)', figureOf: ({ pagesPerSecond }) => pagesPerSecond },
  { title: 'processor time per page, µs (less)', figureOf: ({ processorUs }) => processorUs },
  { title: 'peak memory, MB (less)', figureOf: ({ peakBytes }) => peakBytes / 1024 ** 2 },
];

/** Draws the figures of the tools as bars: an SVG picture. */
export function drawPeers(results: readonly Figures[], title: string): string {
  const height = top + results.length * rowHeight + 8;
  const panelWidth = (width - labelWidth) / panels.length;
  const labels = results.map(
    ({ name }, row) =>
      `<text x="${labelWidth - 12}" y="${yOf(row)}" text-anchor="end">${escapeText(name)}</text>`,
  );
  const drawn = panels.map((panel, index) =>
    drawPanel(panel, results, labelWidth + index * panelWidth, panelWidth - gap),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="13" fill="#1f2328" role="img" aria-label="${escapeText(title)}">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="12" y="20" font-weight="bold">${escapeText(title)}</text>
${[...labels, ...drawn].join('\n')}
</svg>
`;
}

const yOf = (row: number) => top + row * rowHeight + barHeight / 2 + 4;

function drawPanel(
  { title, figureOf }: Panel,
  results: readonly Figures[],
  x: number,
  room: number,
): string {
  const values = results.map(figureOf);
  // The figures stand behind the bars.
  const scale = (room - 56) / Math.max(...values);
  const bars = values.map((value, row) => {
    const length = (value * scale).toFixed(1);
    const figure = `<text x="${(x + value * scale + 6).toFixed(1)}" y="${yOf(row)}">${Math.round(value).toLocaleString('en-US')}</text>`;
    const color = row === 0 ? '#0b7285' : '#adb5bd';
    return `<rect x="${x}" y="${top + row * rowHeight}" width="${length}" height="${barHeight}" fill="${color}"/>${figure}`;
  });
  return [`<text x="${x}" y="44" fill="#57606a">${title}</text>`, ...bars].join('\n');
}

const escapeText = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
