/** A text in which each phone number is a link that is not broken over two lines. */
export function WithNumbers({ text, className = '' }: { text: string; className?: string }) {
  const parts = text.split(/(\b(?:\d-\d{3}-\d{3}-\d{4}|\d{3})\b)/);
  return parts.map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <a key={part} href={`tel:${part}`} className={`font-semibold whitespace-nowrap underline ${className}`}>
        {part}
      </a>
    ),
  );
}
