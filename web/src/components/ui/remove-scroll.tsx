import type { ComponentProps, ElementType } from 'react';

/**
 * Replaces the package `react-remove-scroll`, in which Radix Select wraps its list (see vite.config.ts). That package
 * writes a <style> element whose text depends on the window, so no hash in the Content-Security-Policy can allow it. A
 * list beside its trigger does not need to stop scrolling.
 */
export function RemoveScroll({
  as: Element = 'div',
  allowPinchZoom: _pinch,
  shards: _shards,
  ...props
}: ComponentProps<'div'> & { as?: ElementType; allowPinchZoom?: boolean; shards?: unknown }) {
  return <Element {...props} />;
}
