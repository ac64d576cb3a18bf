/** A text in which each phone number is a link that is broken only where it is longer than a line. */
export function WithNumbers({ text, className = '' }: { text: string; className?: string }) {
  const parts = text.split(/(\b(?:\d-\d{3}-\d{3}-\d{4}|\d{3})\b)/);
  return parts.map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <a key={part} href={`tel:${part}`} className={`inline-block font-semibold underline ${className}`}>
        {part}
      </a>
    ),
  );
}
