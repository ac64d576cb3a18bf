import type { ComponentProps } from 'react';
import { useLinkClickHandler, useLocation } from 'react-router-dom';

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  to: string;
}

/**
 * A link inside the site: a plain link in the prerendered page, a client-side navigation after hydration. The router's
 * own Link adds 3 kB for prefetching, which only its framework mode uses.
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

/** A link with aria-current if it leads to the current page or, unless `end` is set, to a parent of it. */
function NavLink({ end, ...props }: LinkProps & { end?: boolean }) {
  const { pathname } = useLocation();
  const current = end ? pathname === props.to : pathname.startsWith(props.to);
  return <Link aria-current={current ? 'page' : undefined} {...props} />;
}

export { Link, NavLink };
