import { Picture } from './picture';

/** A locked box on a high shelf, beside the sun and a steaming pot that are crossed out. */
export function StoreFigure() {
  return (
    <Picture size={[320, 130]}>
      <path className="fill-primary-soft" d="M0 20A20 20 0 0 1 20 0h130v130H20a20 20 0 0 1-20-20z" />
      <path className="fill-henna" d="M16 74h124v8H16zm12 8h8l-8 16zm92 0h8v16z" />
      <rect className="fill-primary" x="40" y="26" width="74" height="48" rx="6" />
      <path className="fill-background" d="M71 36h12v9h9v12h-9v9H71v-9h-9V45h9z" />
      <path className="fill-none stroke-sun" strokeWidth="4" d="M100 57v-5a6 6 0 0 1 12 0v5" />
      <rect className="fill-sun" x="97" y="56" width="18" height="15" rx="3" />
      <circle className="fill-foreground" cx="46" cy="112" r="7" />
      <path className="fill-foreground" d="M36 130c0-14 20-14 20 0z" />
      <path className="fill-muted" d="M170 0h130a20 20 0 0 1 20 20v90a20 20 0 0 1-20 20H170z" />
      <circle className="fill-sun" cx="210" cy="46" r="15" />
      <path
        className="stroke-sun"
        strokeWidth="4"
        strokeLinecap="round"
        d="M210 16v8m0 44v8m-30-30h8m44 0h8m-51-21 5 5m32 32 5 5m0-42-5 5m-32 32-5 5"
      />
      <path
        className="fill-muted-foreground"
        d="M250 88h54v14a14 14 0 0 1-14 14h-26a14 14 0 0 1-14-14zm-6-6h66v6h-66z"
      />
      <path
        className="fill-none stroke-muted-foreground"
        strokeWidth="3.5"
        strokeLinecap="round"
        d="M264 74q-6-7 0-14t0-14m14 28q-6-7 0-14t0-14m14 28q-6-7 0-14t0-14"
      />
      <path
        className="stroke-destructive"
        strokeWidth="6"
        strokeLinecap="round"
        d="m188 24 44 44m0-44-44 44m64-22 50 66m0-66-50 66"
      />
    </Picture>
  );
}
