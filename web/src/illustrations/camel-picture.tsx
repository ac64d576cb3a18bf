import { Picture } from './picture';

/** A lost camel. */
export function CamelPicture() {
  return (
    <Picture size={[240, 200]}>
      <ellipse cx="120" cy="104" rx="112" ry="92" className="fill-sun-soft" />
      <path className="fill-sun" d="M18 144q102-16 204 0a112 92 0 0 1-204 0Z" />
      <path
        className="fill-[#9a6238]"
        d="M48 172v-52c0-22 12-34 30-38 4-22 30-28 40 0 14 2 24 8 30 18 12-4 18-18 18-40 0-14 10-20 22-18l18 6c6 3 4 12-4 13l-16 2c0 34-10 56-32 66v43h-10v-34h-4l-4 34h-10l2-38c-16 5-32 6-48 2l-4 36H64l2-46c-4 0-8 6-8 14v32z"
      />
      <path className="stroke-[#2b160c]" strokeWidth="4" strokeLinecap="round" d="M190 52v0" />
      <path className="fill-henna" d="M74 84c6-30 40-32 48 0l-4 22c-14 5-28 5-40 0z" />
      <path
        className="fill-none stroke-sun"
        strokeWidth="4"
        strokeDasharray="5 5"
        d="M76 96c16 6 30 6 44 0"
      />
      <path
        className="fill-none stroke-primary"
        strokeWidth="8"
        strokeLinecap="round"
        d="M128 40c0-18 28-18 28-2 0 12-14 12-14 24m0 14v0"
      />
    </Picture>
  );
}
