import { Picture } from './picture';

/** A woman in her headscarf, content, with a sprig of qasil. */
export function WomanPicture() {
  return (
    <Picture size={[240, 200]}>
      <ellipse cx="120" cy="104" rx="112" ry="92" className="fill-rose-soft" />
      <circle cx="178" cy="56" r="32" className="fill-sun" />
      <path
        className="fill-rose"
        d="M118 18C82 18 66 46 68 82c2 34-26 44-32 92 50 26 118 26 168 0-6-46-34-58-34-92 0-38-18-64-52-64Z"
      />
      <path className="fill-henna" d="M72 66c2-36 22-50 46-50 26 0 46 16 48 50-28-18-66-18-94 0Z" />
      <ellipse cx="119" cy="86" rx="32" ry="39" className="fill-[#6f4029]" />
      <path className="fill-henna" d="M84 76c4-26 18-36 35-36s31 10 35 36c-20-16-50-16-70 0Z" />
      <path
        className="fill-none stroke-sun"
        strokeWidth="5"
        strokeDasharray="1 10"
        strokeLinecap="round"
        d="M84 46q34-26 70 0M62 158c34 24 80 24 114 0m-100-22c28 20 60 20 86 0"
      />
      <path
        className="fill-none stroke-[#24120a]"
        strokeWidth="3"
        strokeLinecap="round"
        d="M98 88q7-5 13 0m16 0q7-5 13 0m-21 4-3 10h5m-14 11q12 10 24 0"
      />
      <path className="fill-none stroke-primary" strokeWidth="4" d="M26 178c0-34 4-56 18-82" />
      <path
        className="fill-primary"
        d="M44 96c2-14-4-20-4-20s-12 8 4 20Zm-9 22c-14-6-24 0-24 0s10 14 24 0Zm-4 24c-12-8-24-4-24-4s8 16 24 4Zm6-32c14 0 20-10 20-10s-16-8-20 10Zm-5 26c12 4 22-4 22-4s-12-12-22 4Z"
      />
    </Picture>
  );
}
