import { Picture } from './picture';

/** A calendar with the expiry date of a medicine, and a blister pack. */
export function CalendarPicture() {
  return (
    <Picture>
      <circle cx="60" cy="60" r="57" className="fill-sun-soft" />
      <rect x="26" y="28" width="62" height="60" rx="6" className="fill-card" />
      <path className="fill-henna" d="M26 44V34a6 6 0 0 1 6-6h50a6 6 0 0 1 6 6v10z" />
      <path className="stroke-foreground" strokeWidth="4" strokeLinecap="round" d="M42 22v12m30-12v12" />
      <g className="fill-muted-foreground">
        <circle cx="38" cy="55" r="3" />
        <circle cx="51" cy="55" r="3" />
        <circle cx="64" cy="55" r="3" />
        <circle cx="77" cy="55" r="3" />
        <circle cx="38" cy="67" r="3" />
        <circle cx="38" cy="79" r="3" />
      </g>
      <path
        className="stroke-destructive"
        strokeWidth="5"
        strokeLinecap="round"
        d="m48 63 12 12m0-12L48 75"
      />
      <g transform="rotate(-18 84 84)">
        <rect x="62" y="72" width="46" height="26" rx="4" className="fill-primary" />
        <path
          className="stroke-primary-soft"
          strokeWidth="8"
          strokeLinecap="round"
          strokeDasharray="0 13"
          d="M72 80h30M72 91h30"
        />
      </g>
    </Picture>
  );
}
