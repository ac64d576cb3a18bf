import type { ReactNode } from 'react';

interface PictureProps {
  /** Width and height of the drawing; square pictures of 120 are the usual size. */
  size?: readonly [width: number, height: number];
  children: ReactNode;
}

/** A drawing for the eye only: the words beside it say the same. Its colours follow the theme. */
export function Picture({ size: [width, height] = [120, 120], children }: PictureProps) {
  return (
    <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true" className="h-auto w-full">
      {children}
    </svg>
  );
}
