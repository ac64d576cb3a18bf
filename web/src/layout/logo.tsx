/** A drop of medicine with the star of Somalia. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 36 36" aria-hidden="true" className={className}>
      <path className="fill-primary" d="M18 2c6 7 11 12 11 19a11 11 0 0 1-22 0C7 14 12 9 18 2Z" />
      <path
        className="fill-primary-foreground"
        d="m18 14 1.9 4.1 4.5.5-3.3 3.1.9 4.4-4-2.2-4 2.2.9-4.4-3.3-3.1 4.5-.5Z"
      />
    </svg>
  );
}
