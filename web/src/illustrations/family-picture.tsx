import { Picture } from './picture';

/** A mother and her son by the sea read a medicine box. */
export function FamilyPicture() {
  return (
    <Picture size={[240, 200]}>
      <ellipse cx="120" cy="104" rx="112" ry="92" className="fill-sun-soft" />
      <circle cx="176" cy="58" r="34" className="fill-sun" />
      <path className="fill-primary" d="M9 114h222a112 92 0 0 1-8 28H17a112 92 0 0 1-8-28Z" />
      <path className="fill-muted" d="M17 142q103-18 206 0a112 92 0 0 1-206 0Z" />
      <path
        className="fill-none stroke-[#5a3a22]"
        strokeWidth="5"
        d="M40 152c4-30 2-46-10-66m9 40c2-20 8-30 18-38"
      />
      <path className="fill-primary-deep" d="M10 84c6-16 26-20 44-12 14-2 24 4 26 12-24 6-48 6-70 0Z" />
      <path
        className="fill-henna"
        d="M112 40c-22 0-31 18-31 38 0 26-21 34-23 98a112 92 0 0 0 96 16c4-66-12-86-12-114 0-22-9-38-30-38Z"
      />
      <ellipse cx="115" cy="76" rx="18" ry="23" className="fill-[#7b4a30]" />
      <path
        className="fill-none stroke-sun"
        strokeWidth="4"
        strokeDasharray="1 9"
        strokeLinecap="round"
        d="M86 120c14 16 34 18 52 4m-62 22c22 20 50 22 70 6"
      />
      <path className="fill-card" d="M146 190c-2-46 6-56 26-56s28 14 28 36a112 92 0 0 1-54 20Z" />
      <path className="fill-primary" d="M162 135h20l-10 16z" />
      <ellipse cx="171" cy="114" rx="15" ry="19" className="fill-[#8f5c3d]" />
      <path className="fill-[#24120a]" d="M155 112c-4-26 36-28 32 0-6-10-24-12-32 0Z" />
      <path className="fill-[#7b4a30]" d="M112 150c6-6 14-6 20-2l2 12h-18z" />
      <path className="fill-[#8f5c3d]" d="M172 156c-6-6-14-8-18-4l-2 12h18z" />
      <path className="fill-background stroke-primary" strokeWidth="3" d="M128 134h30v36h-30z" />
      <path className="stroke-foreground" strokeWidth="3" d="M134 146h18m-18 7h12" />
      <path className="stroke-henna" strokeWidth="4" d="M134 162h10" />
      <path
        className="fill-none stroke-[#2b160c]"
        strokeWidth="2"
        strokeLinecap="round"
        d="M108 78q4 3 7 0m7 0q4 3 6 0m-15 10q5 4 9 0m41 27q3 2 6 0m5 0q3 2 5 0m-13 9q4 3 8 0"
      />
    </Picture>
  );
}
