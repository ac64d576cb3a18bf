import { Picture } from './picture';

/** An elder, a mother and a young woman. */
export function CommunityPicture() {
  return (
    <Picture size={[240, 200]}>
      <ellipse cx="120" cy="104" rx="112" ry="92" className="fill-sun-soft" />
      <path className="fill-primary" d="M10 176c0-44 18-60 46-60s46 16 46 60a160 120 0 0 1-92 0Z" />
      <path className="fill-white" d="M44 118h24l-12 22z" />
      <ellipse cx="56" cy="88" rx="20" ry="25" className="fill-[#6b3f28]" />
      <path
        className="fill-white"
        d="M36 78c0-32 40-32 40 0-12-5-28-5-40 0Zm6 22c8 5 20 5 28 0 2 18-6 26-14 26s-16-8-14-26Z"
      />
      <path className="stroke-henna" strokeWidth="3" strokeDasharray="3 3" d="M38 72q18-7 36 0" fill="none" />
      <path
        className="fill-rose"
        d="M184 58c-22 0-30 16-30 34 0 22-18 30-20 80a150 120 0 0 0 96 0c-2-48-16-58-16-80 0-18-8-34-30-34Z"
      />
      <ellipse cx="184" cy="92" rx="18" ry="22" className="fill-[#8f5c3d]" />
      <path
        className="fill-henna"
        d="M120 34c-26 0-36 20-36 42 0 28-24 36-26 100a170 130 0 0 0 124 0c-2-64-26-72-26-100 0-22-10-42-36-42Z"
      />
      <ellipse cx="120" cy="74" rx="21" ry="26" className="fill-[#7b4a30]" />
      <path
        className="fill-none stroke-sun"
        strokeWidth="4"
        strokeDasharray="1 9"
        strokeLinecap="round"
        d="M88 130c18 20 46 20 64 0m-80 20c28 24 68 24 96 0"
      />
      <path
        className="fill-none stroke-[#2b160c]"
        strokeWidth="2.5"
        strokeLinecap="round"
        d="M109 72q4-4 8 0m7 0q4-4 8 0m-18 14q6 6 12 0m51 5q3-3 7 0m5 0q3-3 7 0m-16 12q5 4 10 0M46 88q3-3 7 0m5 0q3-3 7 0"
      />
    </Picture>
  );
}
