import { Picture } from './picture';

/** Help against pain: a warm cup, rest and a few tablets. */
export function BandagePicture() {
  return (
    <Picture>
      <circle cx="60" cy="60" r="57" className="fill-primary-soft" />
      <path
        className="fill-none stroke-muted-foreground"
        strokeWidth="3"
        strokeLinecap="round"
        d="M38 44c-6-7 6-10 0-18m15 18c-6-7 6-10 0-18"
      />
      <path className="fill-none stroke-henna" strokeWidth="5" d="M66 60h7a8 8 0 0 1 0 17h-8" />
      <path className="fill-henna" d="M22 52h46v24a16 16 0 0 1-16 16H38a16 16 0 0 1-16-16z" />
      <path className="stroke-sun" strokeWidth="5" strokeDasharray="5 5" d="M22 66h46" />
      <g transform="rotate(14 84 86)">
        <rect x="66" y="70" width="34" height="34" rx="5" className="fill-primary" />
        <path
          className="stroke-primary-soft"
          strokeWidth="10"
          strokeLinecap="round"
          strokeDasharray="0 15"
          d="M76 80h16M76 95h16"
        />
      </g>
    </Picture>
  );
}
