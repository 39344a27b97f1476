import { marketTitle } from '../../../src/present/names.ts';

/** Colours of the marketplaces' monograms. */
const colors: Readonly<Record<string, string>> = {
  mkta: 'orange',
  mktb: 'green',
  mktc: 'blue',
  mktd: 'grape',
  mkte: 'yellow',
  mktf: 'lime',
  sites: 'cyan',
};

/** Monogram of a marketplace: its first two letters. Decorative; its name is beside it. */
export function Monogram({ market }: { market: string }) {
  const color = colors[market] ?? 'gray';
  return (
    <svg width={36} height={36} viewBox="0 0 36 36" aria-hidden style={{ flexShrink: 0 }}>
      <rect width={36} height={36} rx={9} fill={`var(--mantine-color-${color}-light)`} />
      <text
        x={18}
        y={23.5}
        textAnchor="middle"
        fontSize={15}
        fontWeight={650}
        fill="var(--mantine-color-text)"
      >
        {marketTitle(market).slice(0, 2)}
      </text>
    </svg>
  );
}
