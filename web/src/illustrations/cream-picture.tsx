import { Picture } from './picture';

/** An open jar of cream with unknown content. */
export function CreamPicture() {
  return (
    <Picture>
      <circle cx="60" cy="60" r="57" className="fill-rose-soft" />
      <path className="fill-white" d="M36 56c0-16 16-12 20-24 8 8 4 12 14 12 8 0 14 4 14 12z" />
      <path className="fill-rose" d="M28 60h64l-4 32a8 8 0 0 1-8 7H40a8 8 0 0 1-8-7z" />
      <path className="fill-henna" d="M24 54h72v9H24z" />
      <circle cx="60" cy="80" r="13" className="fill-background" />
      <path
        className="fill-none stroke-foreground"
        strokeWidth="3.5"
        strokeLinecap="round"
        d="M56 77c0-6 9-5 8 0-.5 3-4 3-4 6m0 4.5v0"
      />
      <path className="fill-sun" d="m93 17 15 26H78z" />
      <path className="stroke-[#3b2408]" strokeWidth="3.5" strokeLinecap="round" d="M93 27v7m0 5v0" />
    </Picture>
  );
}
