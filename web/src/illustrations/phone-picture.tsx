import { Picture } from './picture';

/** A phone with a question and its answer. */
export function PhonePicture() {
  return (
    <Picture size={[240, 200]}>
      <ellipse cx="120" cy="104" rx="112" ry="92" className="fill-primary-soft" />
      <rect x="72" y="14" width="96" height="172" rx="16" className="fill-foreground" />
      <rect x="80" y="28" width="80" height="138" rx="6" className="fill-card" />
      <circle cx="120" cy="176" r="5" className="fill-card" />
      <path
        className="fill-sun"
        d="M40 52h82a10 10 0 0 1 10 10v26a10 10 0 0 1-10 10H60l-18 14V98a10 10 0 0 1-12-10V62a10 10 0 0 1 10-10Z"
      />
      <path className="stroke-[#3b2408]" strokeWidth="5" strokeLinecap="round" d="M48 68h66M48 82h42" />
      <path
        className="fill-primary"
        d="M120 108h80a10 10 0 0 1 10 10v22a10 10 0 0 1-10 10v14l-18-14h-62a10 10 0 0 1-10-10v-22a10 10 0 0 1 10-10Z"
      />
      <path
        className="fill-none stroke-primary-foreground"
        strokeWidth="7"
        strokeLinecap="round"
        d="m146 130 10 9 20-19"
      />
    </Picture>
  );
}
