import { Picture } from './picture';

/** Bacteria that a capsule fights, and viruses that it does not reach. */
export function GermsFigure() {
  return (
    <Picture size={[320, 130]}>
      <path className="fill-primary-soft" d="M0 24A24 24 0 0 1 24 0h124v130H24a24 24 0 0 1-24-24z" />
      <path className="fill-muted" d="M172 0h124a24 24 0 0 1 24 24v82a24 24 0 0 1-24 24H172z" />
      <g className="fill-primary">
        <rect x="20" y="30" width="46" height="22" rx="11" transform="rotate(-18 43 41)" />
        <rect x="74" y="20" width="46" height="22" rx="11" transform="rotate(14 97 31)" />
        <rect x="22" y="86" width="46" height="22" rx="11" transform="rotate(12 45 97)" />
      </g>
      <path
        className="fill-none stroke-primary"
        strokeWidth="3"
        strokeLinecap="round"
        d="M66 34q8-7 14-2M120 38q9 5 8 12M68 102q9 5 16-2"
      />
      <path
        className="stroke-destructive"
        strokeWidth="6"
        strokeLinecap="round"
        d="m28 24 30 34m0-34L28 58M82 14l30 34m0-34L82 48M30 80l30 34m0-34-30 34"
      />
      <g transform="rotate(-30 112 88)">
        <rect className="fill-henna" x="88" y="77" width="50" height="23" rx="11.5" />
        <path className="fill-sun" d="M113 77h13.5a11.5 11.5 0 0 1 0 23H113z" />
      </g>
      <g className="fill-rose stroke-rose" strokeWidth="3.5" strokeLinecap="round">
        <path d="M214 20v52m-26-26h52m-44-18 36 36m0-36-36 36M272 62v48m-24-24h48m-41-17 34 34m0-34-34 34" />
        <circle cx="214" cy="46" r="16" />
        <circle cx="272" cy="86" r="15" />
      </g>
      <path
        className="fill-none stroke-foreground"
        strokeWidth="4"
        strokeDasharray="2 8"
        strokeLinecap="round"
        d="M160 8v114"
      />
    </Picture>
  );
}
