import { useText } from '@desk/i18n/language';

interface Props {
  label: string;
  values: [string, number][];
  name: (key: string) => string;
}

/**
 * One column for each value in the order of time. Each column has its name and number as a title.
 */
export function Columns({ label, values, name }: Props) {
  const text = useText();
  const most = Math.max(1, ...values.map(([, n]) => n));
  const total = values.reduce((sum, [, n]) => sum + n, 0);
  const width = 100 / Math.max(values.length, 8);
  return (
    <figure>
      <svg
        viewBox="0 0 100 40"
        preserveAspectRatio="none"
        className="h-44 w-full"
        role="img"
        aria-label={`${label}: ${total}`}
      >
        {[0.25, 0.5, 0.75, 1].map((part) => (
          <line
            key={part}
            x1="0"
            x2="100"
            y1={40 - 38 * part}
            y2={40 - 38 * part}
            className="stroke-border"
            strokeWidth="0.5"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        {values.map(([key, n], i) => (
          <rect
            key={key}
            x={i * width + width * 0.1}
            width={width * 0.8}
            y={40 - (38 * n) / most}
            height={(38 * n) / most}
            className="fill-primary"
          >
            <title>{`${name(key)}: ${n}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption className="text-muted-foreground flex justify-between gap-3 text-xs">
        <span>{values[0] && name(values[0][0])}</span>
        <span className="whitespace-nowrap">{text.figures.most(most)}</span>
        <span className="text-end">{values.length > 1 && name(values.at(-1)?.[0] ?? '')}</span>
      </figcaption>
    </figure>
  );
}
