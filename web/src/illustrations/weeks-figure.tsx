import { Picture } from './picture';

/** The forty weeks of a pregnancy; the second half is crossed out for painkillers such as ibuprofen. */
export function WeeksFigure() {
  return (
    <Picture size={[320, 100]}>
      <rect className="fill-primary-soft" x="10" y="40" width="300" height="28" rx="14" />
      <path className="fill-destructive" d="M160 40h136a14 14 0 0 1 0 28H160z" />
      <path
        className="stroke-background"
        strokeWidth="4"
        strokeLinecap="round"
        d="m180 48 12 12m0-12-12 12m32-12 12 12m0-12-12 12m32-12 12 12m0-12-12 12m32-12 12 12m0-12-12 12"
      />
      <path className="stroke-foreground" strokeWidth="3" d="M160 32v44" />
      <g className="fill-foreground font-sans text-[15px] font-semibold" textAnchor="middle">
        <text x="18" y="92">
          1
        </text>
        <text x="160" y="94">
          20
        </text>
        <text x="300" y="92">
          40
        </text>
      </g>
      <g transform="rotate(-25 236 18)">
        <rect className="fill-henna" x="214" y="8" width="44" height="20" rx="10" />
        <path className="fill-sun" d="M236 8h12a10 10 0 0 1 0 20h-12z" />
      </g>
      <circle className="fill-rose" cx="84" cy="18" r="9" />
      <path className="fill-rose" d="M76 32c-6-8 22-8 16 0 10 2 6 8-8 8s-18-6-8-8z" />
    </Picture>
  );
}
