import { useText } from '@desk/i18n/language';
import { outlines } from './region-outlines';

/** A map of the 18 regions; the darker a region, the more reports. The table beside it has the same numbers. */
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
              points={points.map(project).join(' ')}
              className="stroke-card fill-primary"
              strokeWidth="1.5"
              strokeLinejoin="round"
              fillOpacity={n === 0 ? 0.08 : 0.2 + (0.8 * n) / most}
            >
              <title>{`${name}: ${n}`}</title>
            </polygon>
            {n > 0 && (
              <text
                x={x}
                y={y}
                textAnchor="middle"
                dominantBaseline="central"
                className={
                  0.2 + (0.8 * n) / most > 0.55
                    ? 'fill-primary-foreground pointer-events-none'
                    : 'fill-foreground pointer-events-none'
                }
                fontSize={name === 'Banaadir' ? 11 : 15}
                fontWeight="600"
              >
                {n < 1000 ? n : `${Math.round(n / 100) / 10}k`}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

type Point = readonly [longitude: number, latitude: number];

function project([longitude, latitude]: Point) {
  return `${((longitude - 40.8) * 41).toFixed(1)},${((12.1 - latitude) * 40).toFixed(1)}`;
}

function middle(points: readonly Point[]) {
  const sum = points
    .map(project)
    .map((p) => p.split(',').map(Number))
    .reduce(([ax = 0, ay = 0], [x = 0, y = 0]) => [ax + x, ay + y], [0, 0]);
  return [(sum[0] ?? 0) / points.length, (sum[1] ?? 0) / points.length];
}
