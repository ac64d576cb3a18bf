import { useText } from '@desk/i18n/language';
import { middle, pathOf, shade, shortNumber } from './map';
import { outlines } from './region-outlines';

/**
 * A map of the 18 regions; the darker a region, the more reports. The table beside it has the same
 * numbers.
 */
export function RegionMap({ counts }: { counts: Record<string, number> }) {
  const text = useText();
  const most = Math.max(1, ...Object.entries(counts).map(([name, n]) => (name === '-' ? 0 : n)));
  return (
    <svg
      viewBox="0 0 440 560"
      role="img"
      aria-label={text.figures.mapLabel}
      className="h-auto w-full max-w-sm"
    >
      {Object.entries(outlines).map(([name, points]) => {
        const n = counts[name] ?? 0;
        const [x, y] = middle(points);
        return (
          <g key={name}>
            <polygon
              points={pathOf(points)}
              className="stroke-card fill-primary"
              strokeWidth="1.5"
              strokeLinejoin="round"
              fillOpacity={shade(n, most)}
            >
              <title>{`${name}: ${n}`}</title>
            </polygon>
            {n > 0 && (
              <text
                x={x}
                y={y}
                textAnchor="middle"
                dominantBaseline="central"
                className="fill-foreground stroke-card pointer-events-none"
                strokeWidth="3.5"
                strokeLinejoin="round"
                paintOrder="stroke"
                fontSize={name === 'Banaadir' ? 11 : 15}
                fontWeight="600"
              >
                {shortNumber(n)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}
