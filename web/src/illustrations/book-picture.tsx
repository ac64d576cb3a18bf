import { Picture } from './picture';

/** An open book from which a drop of medicine grows. */
export function BookPicture() {
  return (
    <Picture size={[240, 200]}>
      <ellipse cx="120" cy="104" rx="112" ry="92" className="fill-sun-soft" />
      <path
        className="fill-henna"
        d="M28 92c30-12 62-10 92 8 30-18 62-20 92-8v78c-30-10-62-8-92 8-30-16-62-18-92-8z"
      />
      <path
        className="fill-card"
        d="M36 86c28-10 58-8 84 10v72c-26-16-56-18-84-10zm168 0c-28-10-58-8-84 10v72c26-16 56-18 84-10z"
      />
      <path
        className="fill-none stroke-border"
        strokeWidth="5"
        strokeLinecap="round"
        d="M52 104q26-4 52 8M52 122q26-4 52 8M52 140q26-4 52 8m84-44q-26-4-52 8m52 10q-26-4-52 8m52 10q-26-4-30 2"
      />
      <path className="fill-primary" d="M120 12c16 19 30 32 30 50a30 30 0 0 1-60 0c0-18 14-31 30-50Z" />
      <path
        className="fill-card"
        d="m120 44 5.2 11.2 12.2 1.4-9 8.4 2.4 12-10.8-6-10.8 6 2.4-12-9-8.4 12.2-1.4z"
      />
    </Picture>
  );
}
