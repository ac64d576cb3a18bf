/**
 * A text in which each phone number is a link. A number is broken only where it is longer than a line. Blocks keep it
 * together; a browser may break between a block and a full stop, so the full stop is in the block.
 */
export function WithNumbers({ text, className = '' }: { text: string; className?: string }) {
  const parts = text.split(/(\b(?:\d-\d{3}-\d{3}-\d{4}|\d{3})\b)([.,]?)/);
  return parts.map((part, at) => {
    if (at % 3 !== 1) return at % 3 === 0 && part;
    return (
      <span key={part} className="inline-block">
        <a href={`tel:${part}`} className={`font-semibold underline ${className}`}>
          {part}
        </a>
        {parts[at + 1]}
      </span>
    );
  });
}
