import type { ReactNode } from 'react';

interface PictureProps {
  /** Width and height of the drawing. Most are 120 by 120. */
  size?: readonly [width: number, height: number];
  children: ReactNode;
}

/** A decorative drawing, hidden from screen readers. Its colours follow the theme. */
export function Picture({ size: [width, height] = [120, 120], children }: PictureProps) {
  return (
    <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true" className="h-auto w-full">
      {children}
    </svg>
  );
}
