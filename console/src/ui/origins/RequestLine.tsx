const width = 110;
const height = 24;

/** Area below a series of counts, from 0. Decoration of a text: without axes, drawn as one path. */
export function RequestLine({ values }: { values: readonly number[] }) {
  const max = Math.max(1, ...values);
  const points = values.map((value, at) => {
    const x = (at / Math.max(1, values.length - 1)) * width;
    const y = height - 1 - (value / max) * (height - 2);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const line = `M${points.join('L')}`;
  return (
    <svg aria-hidden width={width} height={height} style={{ color: 'var(--mantine-color-moss-6)' }}>
      <path d={`${line}V${height}H0Z`} fill="currentColor" fillOpacity={0.2} />
      <path d={line} fill="none" stroke="currentColor" strokeWidth={2} />
    </svg>
  );
}
