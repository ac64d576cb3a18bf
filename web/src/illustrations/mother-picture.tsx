import { Picture } from './picture';

/** A mother with her baby. */
export function MotherPicture() {
  return (
    <Picture>
      <circle cx="60" cy="60" r="57" className="fill-rose-soft" />
      <path
        className="fill-primary"
        d="M58 13C40 13 33 27 33 43c0 19-15 25-17 53a57 57 0 0 0 88 0C102 68 84 62 84 43c0-17-8-30-26-30Z"
      />
      <ellipse cx="58" cy="42" rx="15" ry="18" className="fill-[#7b4a30]" />
      <path
        className="fill-none stroke-[#2b160c]"
        strokeWidth="2"
        strokeLinecap="round"
        d="M49 42q3 2 6 0m7 0q3 2 6 0m-14 9q4 3 8 0"
      />
      <path className="fill-sun" d="M30 86c0-16 16-18 30-12s30 4 34-4c6 22-12 34-32 34S30 98 30 86Z" />
      <circle cx="44" cy="80" r="10" className="fill-[#8f5c3d]" />
      <path className="fill-none stroke-[#2b160c]" strokeWidth="1.6" d="M38 80q2 1.5 4 0m4 0q2 1.5 4 0" />
      <path
        className="stroke-henna"
        strokeWidth="3"
        strokeDasharray="3 4"
        d="M34 98c20 8 46 4 58-14"
        fill="none"
      />
    </Picture>
  );
}
