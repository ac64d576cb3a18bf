import { Picture } from './picture';

/** A medicine box whose label is being read. */
export function BoxPicture() {
  return (
    <Picture>
      <circle cx="60" cy="60" r="57" className="fill-sun-soft" />
      <path className="fill-primary-deep" d="M70 28l13-7v68l-13 8z" />
      <path className="fill-sun" d="M28 28l13-7h42l-13 7z" />
      <path className="fill-primary" d="M28 28h42v69H28z" />
      <path className="fill-background" d="M34 42h30v42H34z" />
      <path className="stroke-foreground" strokeWidth="3" d="M39 50h20m-20 7h14m-14 7h18" />
      <path className="stroke-henna" strokeWidth="4" d="M39 75h12" />
      <circle cx="78" cy="74" r="17" className="fill-primary-soft stroke-henna" strokeWidth="5" />
      <path className="stroke-henna" strokeWidth="8" strokeLinecap="round" d="m91 87 11 12" />
      <path className="stroke-foreground" strokeWidth="4" d="M69 71h18m-18 8h12" />
    </Picture>
  );
}
