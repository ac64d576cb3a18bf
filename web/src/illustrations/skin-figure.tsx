import { Picture } from './picture';

/** Three patches of dark skin: healthy, thinned by steroids, and marked by hydroquinone. */
export function SkinFigure() {
  return (
    <Picture size={[320, 112]}>
      <g className="fill-[#6b3f28]">
        <rect x="4" y="6" width="98" height="100" rx="20" />
        <rect x="111" y="6" width="98" height="100" rx="20" />
        <rect x="218" y="6" width="98" height="100" rx="20" />
      </g>
      <path
        className="fill-none stroke-[#8a5639]"
        strokeWidth="3"
        strokeLinecap="round"
        d="M20 34q14-10 32-6m8 60q16 2 26-8M22 62q10 6 22 4"
      />
      <path
        className="fill-[#a9714f]"
        d="M131 6h58a20 20 0 0 1 20 20v42c-26 18-70 10-98-8V26a20 20 0 0 1 20-20z"
      />
      <path
        className="fill-none stroke-[#d9ab8c]"
        strokeWidth="4"
        strokeLinecap="round"
        d="M122 24q8 12 4 30m16-36q8 14 3 38m17-36q7 14 2 36m17-32q5 12 1 28"
      />
      <path
        className="fill-none stroke-[#8f2436]"
        strokeWidth="2"
        strokeLinecap="round"
        d="M132 92q16-12 34-4t34-6m-46 4q4-10 14-12m10 14q6-8 14-9"
      />
      <path
        className="fill-[#20222f]"
        d="M240 34c8-8 22-6 26 2s-8 14-16 12-16-8-10-14zm40 10c8-4 18 2 16 10s-14 8-18 2-2-10 2-12zm-34 30c10-6 26-2 28 6s-14 12-24 8-10-10-4-14zm44 2c6-2 12 2 10 8s-12 4-13 0 0-7 3-8z"
      />
      <path
        className="fill-[#454b63]"
        d="M246 38c4-4 12-3 14 1s-5 6-9 5-8-3-5-6zm6 40c5-3 13-1 14 3s-7 5-12 3-5-4-2-6z"
      />
    </Picture>
  );
}
