import type { ComponentProps } from 'react';
import { useLinkClickHandler, useLocation } from 'react-router-dom';

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  to: string;
}

/**
 * A link inside the site: plain in the prerendered page, followed in place once the page is live. The router's
 * own Link brings prefetching that only its framework uses, at 3 kB for every reader.
 */
function Link({ to, onClick, ...props }: LinkProps) {
  const follow = useLinkClickHandler<HTMLAnchorElement>(to);
  return (
    <a
      href={to}
      onClick={(event) => {
        onClick?.(event);
        if (!event.defaultPrevented) follow(event);
      }}
      {...props}
    />
  );
}

/** A link that says when it leads to the page that is open, or, unless `end`, to a page above it. */
function NavLink({ end, ...props }: LinkProps & { end?: boolean }) {
  const { pathname } = useLocation();
  const current = end ? pathname === props.to : pathname.startsWith(props.to);
  return <Link aria-current={current ? 'page' : undefined} {...props} />;
}

export { Link, NavLink };
