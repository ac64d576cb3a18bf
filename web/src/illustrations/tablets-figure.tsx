import { Picture } from './picture';

const columns = [96, 148, 200, 252];

/** Eight tablets beside a clock: the most in twenty-four hours. */
export function TabletsFigure() {
  return (
    <Picture size={[320, 110]}>
      <circle className="fill-background stroke-primary" strokeWidth="6" cx="42" cy="55" r="34" />
      <text className="fill-foreground font-sans text-[20px] font-bold" x="42" y="62" textAnchor="middle">
        24 h
      </text>
      {columns.map((x) => (
        <g key={x}>
          <rect
            className="fill-primary-soft stroke-primary"
            strokeWidth="3"
            x={x}
            y="12"
            width="44"
            height="38"
            rx="19"
          />
          <rect
            className="fill-primary-soft stroke-primary"
            strokeWidth="3"
            x={x}
            y="60"
            width="44"
            height="38"
            rx="19"
          />
        </g>
      ))}
      <g className="fill-foreground font-sans text-[13px] font-semibold" textAnchor="middle">
        {columns.map((x) => (
          <text key={x} x={x + 22} y="36">
            500
          </text>
        ))}
        {columns.map((x) => (
          <text key={x} x={x + 22} y="84">
            500
          </text>
        ))}
      </g>
    </Picture>
  );
}
