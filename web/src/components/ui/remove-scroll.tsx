import type { ComponentProps, ElementType } from 'react';

/**
 * Stands in for the package `react-remove-scroll` that Radix Select wraps its list in (see vite.config.ts).
 * That package writes a <style> element whose text depends on the window, which no Content-Security-Policy
 * hash can allow; a list beside its trigger does not need the page behind it frozen.
 */
export function RemoveScroll({
  as: Element = 'div',
  allowPinchZoom: _pinch,
  shards: _shards,
  ...props
}: ComponentProps<'div'> & { as?: ElementType; allowPinchZoom?: boolean; shards?: unknown }) {
  return <Element {...props} />;
}
