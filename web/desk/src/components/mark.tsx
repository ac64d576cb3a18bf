/** The mark of the desk: a drop on a square. */
export function Mark() {
  return (
    <svg viewBox="0 0 36 36" className="size-6" aria-hidden="true">
      <rect width="36" height="36" rx="8" className="fill-primary" />
      <path className="fill-primary-foreground" d="M18 6c4 5 8 8 8 13a8 8 0 0 1-16 0c0-5 4-8 8-13Z" />
    </svg>
  );
}
